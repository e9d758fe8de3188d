/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Systems exports, made here: tables that are missing, columns that came later, numbering of memory kinds, damage. */
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/test_util.h"
#include "traces/reader.h"

Suite *nsys_suite(void);

static struct recording rec;
static struct err err;
static char path[] = "/tmp/nsys_XXXXXX";
static sqlite3 *db;

static void setup(void)
{
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
}

static void teardown(void)
{
	recording_release(&rec);
	sqlite3_close(db);
	unlink(path);
}

static void run(const char *sql)
{
	char *message = NULL;
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
}

static int load(void)
{
	sqlite3_close(db);
	db = NULL;
	return recording_load(&rec, path, &err);
}

static const char strings[] =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES(1,'gemm'),(2,'cudaLaunchKernel_v7000'),(3,'cudaMemcpyAsync_v3020'),"
    "(4,'DeepSpeedEngine.forward'),(5,'DeepSpeedEngine.backward'),(6,'DeepSpeedEngine._take_model_step');";
static const char kernels[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(\"start\" INT,\"end\" INT,deviceId INT,streamId INT,correlationId "
    "INT,globalPid INT,"
    "demangledName INT,gridX INT,blockX INT,greenContextId INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1100000,3000000,0,7,11,1291845632,1,4,128,NULL);";
static const char copies[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(\"start\" INT,\"end\" INT,deviceId INT,streamId INT,correlationId "
    "INT,globalPid INT,bytes INT,"
    "copyKind INT,srcKind INT,dstKind INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(11000000,12000000,0,21,12,1291845632,50000000,1,0,2);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(12000000,13000000,0,21,13,1291845632,7000000000,2,2,1);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(13000000,14000000,0,21,14,1291845632,5,11,4,2);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(13000000,14000000,0,21,15,1291845632,6,8,2,2);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(14000000,13000000,0,21,15,1291845632,6,1,2,2);";
static const char ranges[] =
    "CREATE TABLE NVTX_EVENTS(\"start\" INT,\"end\" INT,eventType INT,text TEXT,globalTid INT,textId INT);"
    "INSERT INTO NVTX_EVENTS VALUES(1000000,5000000,59,NULL,1,4),(5000000,10000000,59,NULL,1,5),"
    "(10000000,20000000,59,NULL,1,6),(1,NULL,34,'a mark',1,NULL);";

static const struct rec_event *copy(enum rec_kind kind, size_t nth)
{
	for (size_t i = 0; i < rec.n_events; i++)
		if (rec.events[i].kind == kind && nth-- == 0)
			return &rec.events[i];
	return NULL;
}

START_TEST(full)
{
	run(strings), run(kernels), run(copies), run(ranges);
	run("CREATE TABLE TARGET_INFO_GPU(name TEXT); INSERT INTO TARGET_INFO_GPU VALUES('NVIDIA H100 80GB HBM3')");
	ck_assert_msg(load() == 0, "%s", err.text);
	ck_assert_str_eq(rec.format, "Nsight Systems export");
	ck_assert_str_eq(rec.facts.gpu, "NVIDIA H100 80GB HBM3");
	ck_assert_uint_eq(rec.n_iterations, 1);
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_FORWARD], 4000000);
	ck_assert_int_eq(rec.iterations[0].phase_ns[PHASE_UPDATE], 10000000);
	ck_assert(copy(REC_H2D, 0)->memory == REC_PAGEABLE); /* 0 is pageable in its own numbering */
	ck_assert(copy(REC_D2H, 0)->memory == REC_PINNED && copy(REC_D2H, 0)->bytes == 7000000000);
	ck_assert(copy(REC_H2D, 1)->bytes == 5 && copy(REC_DEVICE, 0)->bytes == 6);
	ck_assert_uint_eq(rec.n_notes, 1); /* the copy that ends before it starts */
}
END_TEST

START_TEST(kinds_by_their_table)
{
	run(strings), run(kernels), run(copies), run(ranges);
	run("CREATE TABLE ENUM_CUDA_MEM_KIND(id INT, name TEXT, label TEXT);"
	    "INSERT INTO ENUM_CUDA_MEM_KIND VALUES(0,'X','Unknown'),(1,'P','Pageable'),(2,'Q','Pinned')");
	ck_assert_msg(load() == 0, "%s", err.text);
	ck_assert(copy(REC_H2D, 0)->memory == REC_MEMORY_UNKNOWN && copy(REC_D2H, 0)->memory == REC_PAGEABLE);
}
END_TEST

/* Host calls: launches and waits, linked by process and correlation; others are of no interest. */
START_TEST(calls)
{
	run(strings), run(kernels), run(ranges);
	run("INSERT INTO StringIds VALUES(7,'cudaStreamSynchronize_v3020'),(8,'cudaMalloc_v3020')");
	run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(\"start\" INT,\"end\" INT,globalTid INT,correlationId INT,nameId INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1000000,1001000,1291845639,11,2),(1002000,1005000,1291845639,12,7),"
	    "(1006000,1007000,1291845639,13,8),(1008000,1009000,1291845639,14,99),(5,1,1291845639,14,2)");
	ck_assert_msg(load() == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_calls, 2);
	ck_assert(rec.calls[0].kind == REC_LAUNCH && rec.calls[1].kind == REC_SYNC);
	ck_assert(rec.calls[0].link != 0 && rec.calls[0].link == rec.events[0].link);
	ck_assert(rec.streams[rec.calls[0].stream].is_framework && rec.streams[rec.calls[0].stream].device == -1);
	ck_assert_uint_eq(rec.n_notes, 1); /* the call that ends before it starts */
}
END_TEST

/* Copies between host buffers are of no engine; an update on the CPU is a range of the framework. */
START_TEST(host_work)
{
	run(strings), run(kernels), run(copies), run(ranges);
	run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(13000000,14000000,0,21,15,1291845632,6,9,1,1)");
	run("INSERT INTO NVTX_EVENTS VALUES(11000000,12000000,60,'DeepSpeedCPUAdam',1,NULL)");
	ck_assert_msg(load() == 0, "%s", err.text);
	ck_assert(copy(REC_HOST, 0)->start_ns == 11000000 && !copy(REC_HOST, 1));
}
END_TEST

/* A value beyond what is read ends its table; the other tables stay. */
static const char *const overlong[] = {
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(\"start\",\"end\") VALUES(zeroblob(5000000),1)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(\"start\",\"end\") VALUES(zeroblob(5000000),1)",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(\"start\" INT); INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(zeroblob(5000000))",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(\"start\" INT); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(zeroblob(5000000))",
    "INSERT INTO NVTX_EVENTS(\"start\") VALUES(zeroblob(5000000))",
};

START_TEST(overlong_value)
{
	run(strings), run(kernels), run(copies), run(ranges);
	run(overlong[_i]);
	ck_assert_msg(load() == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_events, 5);
	bool is_noted = false;
	for (size_t i = 0; i < rec.n_notes; i++)
		is_noted |= strstr(rec.notes[i].text, "table is damaged") != NULL;
	ck_assert(is_noted);
}
END_TEST

static char *bytes_of_file(size_t *n)
{
	FILE *const file = fopen(path, "rb");

	fseek(file, 0, SEEK_END);
	*n = (size_t)ftell(file);
	rewind(file);
	char *const bytes = malloc(*n);
	ck_assert_uint_eq(fread(bytes, 1, *n, file), *n);
	fclose(file);
	return bytes;
}

START_TEST(from_memory)
{
	size_t n;

	run(strings), run(kernels), run(copies), run(ranges);
	sqlite3_close(db);
	db = NULL;
	char *const bytes = bytes_of_file(&n);
	ck_assert_msg(recording_parse(&rec, "t", bytes, n, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(rec.n_iterations, 1);
	recording_release(&rec);
	ck_assert_int_eq(recording_parse(&rec, "t", bytes, 20, &err), STATUS_INPUT); /* its head alone */
	recording_release(&rec);
	sqlite3_hard_heap_limit64(1);
	const int code = recording_parse(&rec, "t", bytes, n, &err);
	sqlite3_hard_heap_limit64(0);
	ck_assert_int_eq(code, STATUS_INPUT);
	assert_has(err.text, "too large");
	free(bytes);
}
END_TEST

static const char *const names[] = {"a b?#%%.sqlite", "packed.sqlite.gz"};

/* A name that a URI cannot hold is one like any other; packed, it cannot be read. */
START_TEST(names_and_packed)
{
	char other[64];
	size_t n;

	run(strings), run(kernels), run(copies), run(ranges);
	sqlite3_close(db);
	db = NULL;
	char *const bytes = bytes_of_file(&n);
	snprintf(other, sizeof(other), "/tmp/%d %s", (int)getpid(), names[_i]);
	gzFile out = gzopen(other, _i ? "wb" : "wbT"); /* T: as it is */
	gzwrite(out, bytes, (unsigned)n);
	gzclose(out);
	free(bytes);
	const int code = recording_load(&rec, other, &err);
	unlink(other);
	ck_assert_int_eq(code, _i ? STATUS_INPUT : 0);
	if (_i)
		assert_has(err.text, "must be a plain file");
}
END_TEST

static const struct {
	const char *sql, *message;
} refused[] = {
    {"CREATE TABLE x(y)", "no kernels or copies"},
    {"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL SELECT start+1 FROM c) "
     "SELECT * FROM c",
	"no kernels or copies"}, /* endless, if it were asked */
    {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(\"start\" TEXT, \"end\" TEXT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL "
     "VALUES('a','b')",
	"no kernels or copies"},
};

START_TEST(refusal)
{
	run(refused[_i].sql);
	ck_assert_int_eq(load(), STATUS_INPUT);
	assert_has(err.text, refused[_i].message);
}
END_TEST

START_TEST(damaged)
{
	char junk[5000];

	memset(junk, 'x', sizeof(junk));
	strcpy(junk, "SQLite format 3");
	FILE *const file = fopen(path, "wb");
	fwrite(junk, 1, sizeof(junk), file);
	fclose(file);
	ck_assert_int_eq(load(), STATUS_INPUT);
}
END_TEST

Suite *nsys_suite(void)
{
	Suite *const suite = suite_create("nsys");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, full);
	tcase_add_test(core, kinds_by_their_table);
	tcase_add_test(core, calls);
	tcase_add_test(core, host_work);
	tcase_add_loop_test(core, overlong_value, 0, (int)N_ELEMENTS(overlong));
	tcase_add_test(core, from_memory);
	tcase_add_loop_test(core, names_and_packed, 0, (int)N_ELEMENTS(names));
	tcase_add_loop_test(core, refusal, 0, (int)N_ELEMENTS(refused));
	tcase_add_test(core, damaged);
	suite_add_tcase(suite, core);
	return suite;
}

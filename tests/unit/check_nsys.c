/* SPDX-License-Identifier: GPL-3.0-or-later
 * Nsight Systems exports, made here: tables that are missing, columns that came later, numbering of memory kinds, damage. */
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

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
	tcase_add_loop_test(core, refusal, 0, (int)N_ELEMENTS(refused));
	tcase_add_test(core, damaged);
	suite_add_tcase(suite, core);
	return suite;
}

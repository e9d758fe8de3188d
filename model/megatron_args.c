/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/megatron_args.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MAX = 65536 }; /* of a variable that holds arguments, too; more is cut */

struct lexer {
	const char *next, *end;
	size_t line;
	struct arena *arena;
};

/* ---- a growing list */

/* Capacities are powers of two from 64: a full list is one whose length is. */
static void append(struct megatron_args *args, struct megatron_arg arg, struct arena *arena)
{
	const bool is_full = args->n == 0 || (args->n >= 64 && (args->n & (args->n - 1)) == 0);

	if (is_full) {
		struct megatron_arg *const old = args->args;
		args->args = arena_alloc(arena, args->n ? 2 * args->n : 64, sizeof(*args->args));
		for (size_t i = 0; i < args->n; i++)
			args->args[i] = old[i];
	}
	args->args[args->n++] = arg;
}

static const char *name_of(const char *from, size_t length, struct arena *arena)
{
	char *const name = arena_printf(arena, "%.*s", (int)length, from);

	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	return name;
}

/* ---- logs: "  num_layers ........ 32", whatever stands before it on the line */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool read_log_line(struct megatron_arg *arg, const char *line, const char *end, struct arena *arena)
{
	for (const char *dots = line; dots < end && (dots = memchr(dots, '.', (size_t)(end - dots))) != NULL; dots++) {
		const char *after = dots, *start = dots - 1;
		while (after < end && *after == '.')
			after++;
		if (after - dots < 2 || dots - line < 2 || dots[-1] != ' ' || after == end || *after != ' ') {
			dots = after - 1;
			continue;
		}
		while (start > line && is_name_char(start[-1]))
			start--;
		while (after < end && *after == ' ')
			after++;
		while (end > after && isspace((unsigned char)end[-1]))
			end--;
		if (start + 1 >= dots || !isalpha((unsigned char)*start) || end - after > WORD_MAX)
			return false;
		arg->name = name_of(start, (size_t)(dots - 1 - start), arena);
		arg->value = arena_printf(arena, "%.*s", (int)(end - after), after);
		return true;
	}
	return false;
}

/* "> padded vocab (size: 50257) with 47 dummy tokens (new size: 50304)": the list has only the size before. */
static bool read_padding(struct megatron_arg *arg, const char *line, const char *end, struct arena *arena)
{
	static const char mark[] = "(new size: ";
	const char *const found = memmem(line, (size_t)(end - line), mark, strlen(mark));
	size_t length = 0;

	if (!found)
		return false;
	const char *const digits = found + strlen(mark);
	while (digits + length < end && length < 20 && isdigit((unsigned char)digits[length]))
		length++;
	arg->name = "padded-vocab-size";
	arg->value = arena_printf(arena, "%.*s", (int)length, digits);
	return length > 0;
}

static void read_log(struct megatron_args *args, const char *text, size_t n_bytes, struct arena *arena)
{
	const char *const end = text + n_bytes;
	size_t line = 1;

	for (const char *c = text; c < end; line++) {
		const char *const found = memchr(c, '\n', (size_t)(end - c));
		const char *const line_end = found ? found : end;
		struct megatron_arg arg = {.line = line};
		if (read_log_line(&arg, c, line_end, arena) || read_padding(&arg, c, line_end, arena))
			append(args, arg, arena);
		c = found ? found + 1 : end;
	}
}

/* ---- command lines and scripts: words as a shell makes them, without its expansions */

static void skip_between(struct lexer *lexer)
{
	for (; lexer->next < lexer->end; lexer->next++) {
		const char c = *lexer->next;
		if (c == '#') {
			const char *const found = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));
			lexer->next = found ? found - 1 : lexer->end - 1;
		} else if (!isspace((unsigned char)c) && c != '\\' && c != '(' && c != ')' && c != ';' && c != '&') {
			return;
		}
		lexer->line += c == '\n';
	}
}

/* NULL at the end. */
static const char *next_word(struct lexer *lexer)
{
	skip_between(lexer);
	if (lexer->next >= lexer->end)
		return NULL;
	char word[WORD_MAX + 1];
	size_t n = 0;
	char quote = 0;
	for (; lexer->next < lexer->end; lexer->next++) {
		const char c = *lexer->next;
		if (quote == 0 &&
		    (isspace((unsigned char)c) || c == ')' || c == ';' || (c == '(' && n > 0 && word[n - 1] == '=')))
			break;
		lexer->line += c == '\n';
		if ((c == '"' || c == '\'') && (quote == 0 || quote == c))
			quote = quote ? 0 : c;
		else if (n < WORD_MAX && c != '\0')
			word[n++] = c;
	}
	word[n] = '\0';
	return arena_strdup(lexer->arena, word);
}

static bool is_assignment(const char *word)
{
	const size_t length = strcspn(word, "=");

	if (word[length] != '=' || length == 0 || isdigit((unsigned char)word[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!is_name_char(word[i]))
			return false;
	return true;
}

enum { VARIABLES_MAX = 4096 }; /* more are not remembered: no script of arguments has them, and each is compared with each */

static struct megatron_arg *find_variable(const struct megatron_args *variables, const char *name, size_t length)
{
	for (size_t i = 0; i < variables->n; i++)
		if (strncmp(variables->args[i].name, name, length) == 0 && variables->args[i].name[length] == '\0')
			return &variables->args[i];
	return NULL;
}

static void assign(struct megatron_args *variables, const char *name, const char *value, size_t line, struct arena *arena)
{
	struct megatron_arg *const old = find_variable(variables, name, strlen(name));

	if (old)
		old->value = value;
	else if (variables->n < VARIABLES_MAX)
		append(variables, (struct megatron_arg){name, value, line}, arena);
}

/* "$NAME", "${NAME}", "${NAME:-value}": the value of the last assignment, or the word as it stands. */
static const char *resolve(const struct megatron_args *variables, const char *word, struct arena *arena)
{
	const bool has_brace = word[0] == '$' && word[1] == '{';
	const char *const name = word + (has_brace ? 2 : 1);
	size_t length = 0;

	if (word[0] != '$')
		return word;
	while (is_name_char(name[length]))
		length++;
	const char *const rest = name + length + (has_brace && name[length] == '}');
	const bool has_fallback = has_brace && strncmp(name + length, ":-", 2) == 0;
	if (*rest != '\0' && !has_fallback)
		return word;
	const struct megatron_arg *const variable = find_variable(variables, name, length);
	if (variable)
		return variable->value;
	if (!has_fallback || name[strlen(name) - 1] != '}')
		return word;
	return arena_printf(arena, "%.*s", (int)(strlen(name) - length - 3), name + length + 2);
}

struct script {
	struct megatron_args *args;
	struct megatron_args variables;
	struct arena *arena;
	size_t n_nested_bytes; /* read so far in values */
};
/* Values that hold each other's assignments would be read with the power of their depth. */
enum { SCRIPT_DEPTH_MAX = 3, SCRIPT_NESTED_MAX = 1024 * 1024 };

static void read_words(struct script *script, const char *text, size_t n_bytes, size_t line, int depth);

/* What is assigned may hold arguments itself: A="--num-layers 32 .." */
static void read_assignment(struct script *script, const char *word, size_t line, int depth)
{
	const size_t length = strcspn(word, "=");
	const char *const value = resolve(&script->variables, word + length + 1, script->arena);
	const char *const name = arena_printf(script->arena, "%.*s", (int)length, word);

	assign(&script->variables, name, value, line, script->arena);
	if (depth == SCRIPT_DEPTH_MAX || !strstr(value, "--") || !strpbrk(value, " \t\n"))
		return;
	script->n_nested_bytes += strlen(value);
	if (script->n_nested_bytes <= SCRIPT_NESTED_MAX)
		read_words(script, value, strlen(value), line, depth + 1);
}

static void read_words(struct script *script, const char *text, size_t n_bytes, size_t line, int depth)
{
	struct lexer lexer = {.next = text, .end = text + n_bytes, .line = line, .arena = script->arena};
	struct megatron_args *const args = script->args;
	bool is_open = false; /* the last argument is still without a value */

	for (const char *word; (word = next_word(&lexer)) != NULL;) {
		const size_t length = strcspn(word, "=");
		if (strncmp(word, "--", 2) == 0) {
			struct megatron_arg arg = {
			    .name = name_of(word + 2, length - 2, script->arena), .line = lexer.line};
			if (word[length] == '=')
				arg.value = resolve(&script->variables, word + length + 1, script->arena);
			append(args, arg, script->arena);
			is_open = !arg.value;
		} else if (is_open) {
			args->args[args->n - 1].value = resolve(&script->variables, word, script->arena);
			is_open = false;
		} else if (is_assignment(word)) {
			read_assignment(script, word, lexer.line, depth);
		}
	}
}

/* ---- which of the two */

void megatron_args_read(struct megatron_args *args, const char *text, size_t n_bytes, struct arena *arena)
{
	struct script script = {.args = args, .arena = arena};

	*args = (struct megatron_args){.is_log = true};
	read_log(args, text, n_bytes, arena);
	if (megatron_args_find(args, "num-layers") || megatron_args_find(args, "hidden-size"))
		return;
	*args = (struct megatron_args){.is_log = false};
	read_words(&script, text, n_bytes, 1, 0);
}

const struct megatron_arg *megatron_args_find(const struct megatron_args *args, const char *name)
{
	for (size_t i = args->n; i-- > 0;)
		if (strcmp(args->args[i].name, name) == 0)
			return args->args[i].value && strcmp(args->args[i].value, "None") == 0 ? NULL : &args->args[i];
	return NULL;
}

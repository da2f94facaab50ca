/* fake_interpreter.c - a library with the functions of an interpreter, as far as test_nameless.c looks for them.
 *
 * It is stripped when it is linked, so that the hidden ones have no names left; fake_functions tells the
 * test where they are. */
#include <stddef.h>
#include <stdint.h>

#define API    __attribute__((visibility("default"), noinline))
#define HIDDEN static __attribute__((noinline))

static volatile int sink;

API int _PyEval_EvalFrameDefault(int value);
API int PyObject_Call(int value);
API int PyTuple_New(int value);
API int PyList_Sort(int value);
API int PyList_Append(int value);
API int PyList_Reverse(int value);
API void *PyFunction_NewWithQualName(void **function);
API void *PyMethod_New(void **method);

/* They differ, or they would be made one. */
#define LEAF(name, number)                     \
	HIDDEN int name(int value)             \
	{                                      \
		return sink += value ^ (number); \
	}
LEAF(common, 3)
LEAF(tuple_alloc, 5)
LEAF(call_helper, 7)
LEAF(method_vectorcall, 13)
LEAF(gen_iternext, 15)
LEAF(slot_call, 17)
LEAF(wrap_call, 19)
LEAF(object_malloc, 21)
LEAF(object_vacall, 23)
LEAF(long_add, 25)
LEAF(list_sort, 27)

HIDDEN int push_frame(int value)
{
	return call_helper(value) + (sink += value ^ 9);
}

HIDDEN int vectorcall(int value)
{
	return push_frame(value) + common(value) + (sink += value ^ 11);
}

int _PyEval_EvalFrameDefault(int value)
{
	return long_add(value) + (sink += value ^ 29);
}

int PyObject_Call(int value)
{
	return object_vacall(value) + (sink += value ^ 31);
}

int PyTuple_New(int value)
{
	return tuple_alloc(value) + (sink += value ^ 33);
}

int PyList_Sort(int value)
{
	return list_sort(value) + common(value) + (sink += value ^ 35);
}

int PyList_Append(int value)
{
	return common(value) + (sink += value ^ 37);
}

int PyList_Reverse(int value)
{
	return common(value) + (sink += value ^ 39);
}

void *PyFunction_NewWithQualName(void **function)
{
	return *function = (void *)(uintptr_t)vectorcall;
}

void *PyMethod_New(void **method)
{
	return *method = (void *)(uintptr_t)method_vectorcall;
}

typedef int (*function_type)(int);

/* A type's fields are words; this is the one that gives the next item. */
struct type {
	uint64_t before[28];
	function_type iternext;
	uint64_t after[20];
};
__attribute__((visibility("default"))) struct type PyGen_Type = { .iternext = gen_iternext };

struct slot {
	const char *name;
	int offset;
	function_type function, method;
	const char *text;
	int flags;
	void *object;
};
#define SLOT   { "__call__", 128, slot_call, wrap_call, "", 0, NULL }
#define SLOTS5 SLOT, SLOT, SLOT, SLOT, SLOT
__attribute__((visibility("default"))) struct slot fake_slots[] = { SLOTS5, SLOTS5, SLOTS5, SLOTS5, SLOTS5,
								    SLOTS5, SLOTS5, SLOTS5, SLOTS5, SLOTS5 };

struct allocator {
	char letter;
	void *argument;
	function_type functions[4];
};
#define FOUR { object_malloc, object_malloc, object_malloc, object_malloc }
__attribute__((visibility("default"))) struct allocator fake_allocators[] = {
	{ 'r', NULL, FOUR }, { 'm', NULL, FOUR }, { 'o', NULL, FOUR }
};

/* In the order of enum in test_nameless.c. */
__attribute__((visibility("default"))) const function_type fake_functions[] = {
	vectorcall,    push_frame,  call_helper, gen_iternext,  slot_call, method_vectorcall,
	object_vacall, object_malloc, tuple_alloc, common, wrap_call, long_add,	 list_sort,
};

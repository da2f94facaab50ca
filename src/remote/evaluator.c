/* evaluator.c - see evaluator.h. */
#include "remote/evaluator.h"

#include <stdlib.h>
#include <string.h>

#include "base/starts.h"
#include "base/text.h"
#include "remote/elf_file.h"
#include "remote/nameless.h"

#define PIECES_MAX 4096u

/* Of all versions together; in the order of strcmp. */
static const char *const entering[] = {
	"PyFrame_New", "_PyEvalFrameClearAndPop", "_PyEvalFramePushAndInit",
	"_PyEvalFramePushAndInit_Ex", "_PyEval_EvalCode", "_PyEval_EvalCodeWithName", "_PyEval_EvalFrame",
	"_PyEval_FrameClearAndPop", "_PyEval_MakeFrameVector", "_PyEval_Vector", "_PyFrame_Clear",
	"_PyFrame_ClearExceptCode", "_PyFrame_ClearLocals", "_PyFrame_New_NoTrack",
	"_PyFunction_FastCallDict", "_PyFunction_Vectorcall", "_PyThreadState_PopFrame",
	"_PyThreadState_PushFrame", "call_method", "call_unbound", "call_unbound_noarg",
	"clear_gen_frame", "clear_thread_frame", "frame_alloc", "frame_dealloc",
	"function_code_fastcall", "gen_iternext", "gen_send_ex", "gen_send_ex2", "initialize_locals",
	"lookup_maybe_method", "lookup_method", "push_chunk", "vectorcall_maybe", "vectorcall_method",
	"vectorcall_unbound",
};

static const char *const loop[] = { "_PyEval_EvalFrameDefault" };

static const char *const running[] = {
	"PyEval_EvalFrameEx", "PyObject_Call", "PyObject_CallFunctionObjArgs", "PyObject_CallNoArgs",
	"PyObject_CallOneArg", "PyObject_Vectorcall", "PyObject_VectorcallMethod",
	"PyVectorcall_Call", "PyVectorcall_Function", "_PyObject_Call",
	"_PyObject_Call_Prepend", "_PyObject_FastCallDict", "_PyObject_FastCallDictTstate",
	"_PyObject_FastCall_Prepend", "_PyObject_LookupSpecial", "_PyObject_MakeTpCall",
	"_PyObject_Vectorcall", "_PyObject_VectorcallDictTstate", "_PyObject_VectorcallTstate",
	"_PyType_Lookup", "_PyType_LookupId", "_PyType_LookupRef", "_PyType_LookupStackRefAndVersion",
	"_PyVectorcall_Call", "_Py_CheckFunctionResult", "call_function", "func_descr_get",
	"method_vectorcall", "object_vacall", "partial_call", "partial_vectorcall", "type_call",
};

static const char *const chores[] = {
	"PyDict_GetItemRef", "PyDict_GetItemWithError", "PyDict_New", "PyDict_Next", "PyDict_SetItem",
	"PyErr_Occurred", "PyMethod_New", "PyObject_Free", "PyObject_GC_Del", "PyObject_GC_Track",
	"PyObject_GC_UnTrack", "PyObject_Malloc", "PyThreadState_Get", "PyTuple_New",
	"PyType_GenericAlloc", "PyType_IsSubtype", "_PyDict_FromItems", "_PyDict_GetItem_KnownHash",
	"_PyDict_Next", "_PyObject_Free", "_PyObject_GC_Alloc", "_PyObject_GC_Link",
	"_PyObject_GC_Malloc", "_PyObject_GC_New", "_PyObject_GC_NewVar", "_PyObject_InitializeDict",
	"_PyObject_Malloc", "_PyStack_AsDict", "_PyStack_UnpackDict", "_PyThreadState_UncheckedGet",
	"_PyTrash_begin", "_PyTrash_cond", "_PyTrash_end", "_PyTuple_FromArray",
	"_PyTuple_FromArraySteal", "_PyType_AllocNoTrack", "_PyUnicode_FromId", "_Py_Dealloc",
	"_Py_NewReference", "_Py_dict_lookup", "dict_dealloc", "find_empty_slot", "free_keys_object",
	"insert_to_emptydict", "insertdict", "long_dealloc", "lookdict_unicode",
	"lookdict_unicode_nodummy", "method_dealloc", "new_keys_object", "object_init", "object_new",
	"pymalloc_alloc", "pymalloc_free", "tuple_alloc", "tuple_dealloc", "tupledealloc",
	"unicodekeys_lookup_unicode",
};

/* What takes one step of a short operation.  A chain of such steps can wait for memory again and again:
 * table, entry, key, value. */
static const char *const steps[] = {
	"PyDict_Contains", "PyDict_DelItem", "PyDict_GetItem", "PyList_GetItem", "PyList_GetItemRef",
	"PyMember_GetOne", "PyMember_SetOne", "PyObject_DelItem", "PyObject_GenericGetAttr",
	"PyObject_GenericSetAttr", "PyObject_GetAttr", "PyObject_GetItem", "PyObject_GetOptionalAttr",
	"PyObject_Hash", "PyObject_IsTrue", "PyObject_RichCompare", "PyObject_SetAttr",
	"PyObject_SetItem", "PySequence_Contains", "PySet_Contains", "PyUnicode_RichCompare",
	"_PyDictKeys_StringLookup", "_PyDict_Contains_KnownHash", "_PyDict_DelItem_KnownHash",
	"_PyDict_GetItemRef_KnownHash", "_PyDict_LoadGlobal", "_PyDict_SetItem_KnownHash",
	"_PyDict_SetItem_Take2", "_PyObjectDict_SetItem", "_PyObject_ComputedDictPointer",
	"_PyObject_GenericGetAttrWithDict", "_PyObject_GenericSetAttrWithDict", "_PyObject_GetDictPtr",
	"_PyObject_GetInstanceAttribute", "_PyObject_GetMethod", "_PyObject_LookupAttr",
	"_PyObject_StoreInstanceAttribute", "_PyObject_TryGetInstanceAttribute", "_PyUnicode_EQ",
	"_PyUnicode_Equal", "bytes_hash", "compare_generic", "compare_unicode_generic",
	"compare_unicode_unicode", "compare_unicode_unicode_threadsafe", "delitem_common",
	"delitem_common_lock_held", "dict_ass_sub", "dict_contains", "dict_subscript",
	"dictiter_iternext", "dictiter_iternextitem", "dictiter_iternextkey", "dictiter_iternextvalue",
	"dictkeys_generic_lookup", "dictkeys_stringlookup", "do_lookup", "do_richcompare", "float_hash",
	"list_ass_item", "list_ass_subscript", "list_get_item_ref", "list_item", "list_subscript",
	"listiter_next", "long_hash", "long_richcompare", "lookdict", "lookdict_index", "lookdict_split",
	"member_get", "member_set", "set_contains", "set_contains_entry", "set_contains_key",
	"set_discard_entry", "set_discard_key", "set_lookkey", "setitem_take2_lock_held",
	"setiter_iternext", "store_instance_attr_dict", "store_instance_attr_lock_held", "tuplehash",
	"tupleitem", "tupleiter_next", "tuplesubscript", "unicode_compare_eq", "unicode_eq",
	"unicode_hash", "unicodekeys_lookup_generic", "unicodekeys_lookup_split",
};

#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

/* A name without what compilers append. */
struct name {
	const char *text;
	size_t length;
};

static int compare_name(const void *key, const void *item)
{
	const struct name *name = key;
	const char *known = *(const char *const *)item;
	int order = strncmp(name->text, known, name->length);

	return order != 0 ? order : -(known[name->length] != '\0');
}

static bool is_among(struct name name, const char *const *names, size_t count)
{
	return bsearch(&name, names, count, sizeof(names[0]), compare_name) != NULL;
}

enum evaluator_part evaluator_part_of(const char *text)
{
	struct name name = { text, strcspn(text, ".") };

	/* What calls special methods in Python. */
	if (text_starts_with(text, "slot_") || text_starts_with(text, "_Py_slot_") || is_among(name, entering, COUNT(entering)))
		return EVALUATOR_ENTERING;
	/* The instructions: in one function, or each in its own. */
	if (text_starts_with(text, "_TAIL_CALL_") || is_among(name, loop, COUNT(loop)))
		return EVALUATOR_LOOP;
	if (is_among(name, running, COUNT(running)))
		return EVALUATOR_RUNNING;
	if (is_among(name, chores, COUNT(chores)))
		return EVALUATOR_CHORES;
	return is_among(name, steps, COUNT(steps)) ? EVALUATOR_READING : EVALUATOR_NONE;
}

/* A file that is being read. */
struct reading {
	struct evaluator *evaluator;
	const struct elf_file *elf;
};

static void take_piece(void *context, enum evaluator_part part, struct elf_piece where)
{
	struct reading *reading = context;
	uint64_t offset;

	if (part == EVALUATOR_NONE || !elf_offset_of(reading->elf, where.address, &offset) ||
	    where.size > UINT64_MAX - offset || reading->evaluator->pieces.count >= PIECES_MAX)
		return;
	vec_push(&reading->evaluator->pieces,
		 ((struct evaluator_piece){ offset, offset + where.size, part }));
}

static void take_function(void *context, const char *name, struct elf_piece where)
{
	take_piece(context, evaluator_part_of(name), where);
}

/* Most are there twice, some under two names. */
static void sort_pieces(struct evaluator *evaluator)
{
	struct evaluator_piece *pieces = evaluator->pieces.items;
	uint32_t kept = 0;

	starts_sort(pieces, evaluator->pieces.count, sizeof(*pieces));
	for (uint32_t i = 1; i < evaluator->pieces.count; i++) {
		if (pieces[i].start >= pieces[kept].end)
			pieces[++kept] = pieces[i];
	}
	evaluator->pieces.count = kept + 1;
}

void evaluator_read(struct evaluator *evaluator, pid_t pid, const char *path)
{
	static const char *const stubs[] = { ".plt", ".plt.sec", ".plt.got" };
	struct elf_file elf;
	struct reading reading = { evaluator, &elf };
	struct elf_piece section;

	memset(evaluator, 0, sizeof(*evaluator));
	if (elf_open_of(&elf, pid, path) != 0)
		return;
	evaluator->has_names = elf_each_function(&elf, take_function, &reading);
	evaluator->is_complete = evaluator->has_names;
	if (evaluator->pieces.count > 0 && !evaluator->is_complete)
		evaluator->is_complete = nameless_each(&elf, take_piece, &reading);
	for (size_t i = 0; i < COUNT(stubs); i++) {
		if (evaluator->pieces.count > 0 && elf_find_section(&elf, stubs[i], &section))
			take_piece(&reading, EVALUATOR_CHORES, section);
	}
	if (evaluator->pieces.count > 0)
		sort_pieces(evaluator);
	elf_close(&elf);
}

void evaluator_fini(struct evaluator *evaluator)
{
	vec_free(&evaluator->pieces);
}

enum evaluator_part evaluator_find(const struct evaluator *evaluator, uint64_t offset)
{
	const struct evaluator_piece *pieces = evaluator->pieces.items;
	uint32_t count = starts_until(pieces, evaluator->pieces.count, sizeof(*pieces), offset);

	return count > 0 && offset < pieces[count - 1].end ? pieces[count - 1].part : EVALUATOR_NONE;
}

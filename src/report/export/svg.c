/* svg.c - a flame graph as one picture: the merged stacks, heaviest at the left,
 * callers above what they called.
 *
 * It is complete in itself: no request, no font, no style from elsewhere; a few
 * lines of script zoom and search, and without script it is still a picture.
 * Boxes narrower than a pixel's third are left out, which bounds its size. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "report/export/formats.h"
#include "report/export/frames.h"
#include "report/figure.h"

#define WIDTH 1200.0
#define MARGIN 10.0
#define TOP 64u       /* pixels for the title */
#define ROW 18u       /* pixels of a box with the gap below it */
#define LEAST_WIDTH 0.3
#define LETTER 6.6    /* pixels of a letter of the font below, about */
#define MAX_DEPTH 2000u

struct picture {
	FILE *out;
	const struct export_tree *tree;
	enum export_metric metric;
	struct buf label;
	uint32_t depth;  /* of the deepest box */
	uint32_t hidden; /* boxes left out */
	bool is_drawing; /* else only measuring */
};

static const char style[] =
	"svg{font:12px system-ui,sans-serif;background:#fff;color:#1b1f24}\n"
	"text{fill:currentColor}\n"
	".t{font-size:16px;font-weight:600}\n"
	".f{cursor:pointer}\n"
	".f rect{stroke:#fff;stroke-width:.5}\n"
	".f text{font:11px ui-monospace,monospace;fill:#14171c;pointer-events:none}\n"
	".own rect{fill:#ffb45e}.own.b rect{fill:#ffc583}\n"
	".lib rect{fill:#9cc3f5}.lib.b rect{fill:#b4d2f8}\n"
	".nat rect{fill:#c4c9d1}\n"
	".f:hover rect,.f:focus rect{stroke:#14171c;stroke-width:1}\n"
	".f.hit rect{fill:#e66bd8}\n"
	".f.up{opacity:.45}\n"
	".k{cursor:pointer;text-decoration:underline}\n"
	"@media(prefers-color-scheme:dark){svg{background:#14171c;color:#e6e9ee}"
	".f rect{stroke:#14171c}.f:hover rect,.f:focus rect{stroke:#fff}}\n";

/* Boxes carry their place as data-x and data-w, in parts of the whole. */
static const char script[] =
	"(function(){\n"
	"var svg=document.documentElement,all=[].slice.call(svg.querySelectorAll('.f'));\n"
	"var width=1180,left=10,shown=0,span=1;\n"
	"function num(g,k){return +g.getAttribute('data-'+k)}\n"
	"function fit(g,w){var t=g.lastElementChild,n=Math.floor((w-6)/6.6),"
	"s=g.getAttribute('data-n');\n"
	"t.textContent=n<3?'':s.length<=n?s:s.slice(0,n-1)+'\\u2026'}\n"
	"function draw(){all.forEach(function(g){\n"
	"var a=(num(g,'x')-shown)/span,b=a+num(g,'w')/span;\n"
	"var x=Math.max(0,a),w=Math.min(1,b)-x,r=g.children[1],t=g.lastElementChild;\n"
	"g.style.display=w*width<.3?'none':'';if(w<=0)return;\n"
	"g.classList.toggle('up',span<1&&num(g,'w')>span*1.000001);\n"
	"r.setAttribute('x',left+x*width);r.setAttribute('width',w*width);\n"
	"t.setAttribute('x',left+x*width+3);fit(g,w*width)});\n"
	"document.getElementById('reset').style.display=span<1?'':'none'}\n"
	"function zoom(g){shown=num(g,'x');span=num(g,'w');draw()}\n"
	"function reset(){shown=0;span=1;draw()}\n"
	"function search(){var q=prompt('Search functions and files (regular expression):');\n"
	"if(q===null)return;var e;\n"
	"try{e=q?new RegExp(q,'i'):null}catch(x){alert(x.message);return}\n"
	"var ends=[];all.forEach(function(g){var hit=!!e&&e.test(g.getAttribute('data-n'));\n"
	"g.classList.toggle('hit',hit);if(hit)ends.push([num(g,'x'),num(g,'x')+num(g,'w')])});\n"
	"ends.sort(function(a,b){return a[0]-b[0]});var sum=0,at=0;\n"
	"ends.forEach(function(p){if(p[1]>at){sum+=p[1]-Math.max(at,p[0]);at=p[1]}});\n"
	"document.getElementById('found').textContent=e?'found in '+(100*sum).toFixed(1)+' %':''}\n"
	"all.forEach(function(g){g.addEventListener('click',function(){zoom(g)});\n"
	"g.addEventListener('keydown',function(v){if(v.key==='Enter')zoom(g)})});\n"
	"document.getElementById('reset').addEventListener('click',reset);\n"
	"document.getElementById('search').addEventListener('click',search);\n"
	"window.addEventListener('keydown',function(v){if(v.key==='Escape')reset();\n"
	"if(v.key==='/'||((v.ctrlKey||v.metaKey)&&v.key==='f')){v.preventDefault();search()}});\n"
	"document.getElementById('search').style.display='';\n"
	"})();\n";

static void put_escaped(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(text[i], out);
		}
	}
}

static bool is_time(enum export_metric metric)
{
	return export_is_time(metric);
}

static struct figure amount(const struct picture *picture, uint64_t value)
{
	return is_time(picture->metric) ? figure_seconds((double)value / 1e6) :
					  figure_bytes((double)value);
}

/* Whose code it is; of two shades, by name, so that neighbours differ. */
static const char *box_class(const struct picture *picture, const struct stack_node *node)
{
	const struct profile *profile = picture->tree->profile;
	const char *name = export_function(node);
	bool is_second = map_hash_bytes(name, strlen(name)) & 1;
	if (node->file >= profile->file_count)
		return "f nat";
	if (profile->files[node->file].in_scope)
		return is_second ? "f own b" : "f own";
	return is_second ? "f lib b" : "f lib";
}

/* As many letters of the label as the box has room for. */
static void put_fitting(FILE *out, const struct buf *label, double width)
{
	size_t room = width > 6 ? (size_t)((width - 6) / LETTER) : 0;
	size_t bytes = 0, letters = 0, cut = 0;
	if (room < 3)
		return;
	while (bytes < label->size) {
		if (letters == room - 1)
			cut = bytes;
		if (letters++ == room)
			break;
		bytes++;
		while (bytes < label->size && ((unsigned char)label->data[bytes] & 0xc0) == 0x80)
			bytes++;
	}
	bool is_cut = bytes < label->size;
	put_escaped(out, label->data, is_cut ? cut : label->size);
	fputs(is_cut ? "…" : "", out);
}

static void put_box(struct picture *picture, uint32_t node, uint32_t depth, double x, double width)
{
	const struct export_tree *tree = picture->tree;
	FILE *out = picture->out;
	uint64_t below = tree->below[node];
	double whole = (double)tree->below[0];
	double left = MARGIN + x * (WIDTH - 2 * MARGIN);
	uint32_t y = TOP + depth * ROW;
	export_label(&picture->label, tree->profile, &tree->nodes[node], 0);
	fprintf(out, "<g class=\"%s\" tabindex=\"0\" data-x=\"%.9g\" data-w=\"%.9g\" data-n=\"",
		box_class(picture, &tree->nodes[node]), x, (double)below / whole);
	put_escaped(out, picture->label.data, picture->label.size);
	fputs("\"><title>", out);
	put_escaped(out, picture->label.data, picture->label.size);
	fprintf(out, "\n%s (%.1f %%)", amount(picture, below).text, 100 * (double)below / whole);
	if (tree->values[node] && tree->values[node] != below)
		fprintf(out, ", itself %s", amount(picture, tree->values[node]).text);
	fprintf(out, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" rx=\"1\"/>",
		left, y, width, ROW - 1);
	fprintf(out, "<text x=\"%.2f\" y=\"%u\">", left + 3, y + 12);
	put_fitting(out, &picture->label, width);
	fputs("</text></g>\n", out);
}

static void enter(void *context, uint32_t node, uint32_t depth, uint64_t at)
{
	struct picture *picture = context;
	double whole = (double)picture->tree->below[0];
	double width = (double)picture->tree->below[node] / whole * (WIDTH - 2 * MARGIN);
	if (width < LEAST_WIDTH || depth >= MAX_DEPTH) {
		picture->hidden++;
		return;
	}
	if (depth + 1 > picture->depth)
		picture->depth = depth + 1;
	if (picture->is_drawing)
		put_box(picture, node, depth, (double)at / whole, width);
}

static void put_head(struct picture *picture)
{
	static const char *const titles[EXPORT_METRIC_COUNT] = {
		"time", "CPU time", "memory allocated", "memory at the peak", "memory kept",
		"bytes copied", "GPU time"};
	const char *program = picture->tree->profile->program;
	FILE *out = picture->out;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" width=\"%.0f\" "
		"height=\"%u\">\n<style>\n%s</style>\n<title>",
		WIDTH, TOP + picture->depth * ROW + 30, WIDTH, TOP + picture->depth * ROW + 30,
		style);
	buf_clear(&picture->label);
	export_clean(&picture->label, program ? program : "", program ? strlen(program) : 0, 0);
	put_escaped(out, picture->label.data, picture->label.size);
	fprintf(out, "</title>\n<text class=\"t\" x=\"%.0f\" y=\"24\">", MARGIN);
	put_fitting(out, &picture->label, (WIDTH - 2 * MARGIN) * 0.7);
	fprintf(out, "</text>\n<text x=\"%.0f\" y=\"46\">%s: %s in all.</text>\n", MARGIN,
		titles[picture->metric], amount(picture, picture->tree->below[0]).text);
	fprintf(out,
		"<text id=\"search\" class=\"k\" x=\"%.0f\" y=\"24\" text-anchor=\"end\" "
		"style=\"display:none\">search (/)</text>\n"
		"<text id=\"reset\" class=\"k\" x=\"%.0f\" y=\"46\" text-anchor=\"end\" "
		"style=\"display:none\">show all (Esc)</text>\n"
		"<text id=\"found\" x=\"%.0f\" y=\"24\" text-anchor=\"end\"></text>\n",
		WIDTH - MARGIN, WIDTH - MARGIN, WIDTH - MARGIN - 90);
}

static void put_foot(struct picture *picture)
{
	FILE *out = picture->out;
	uint32_t y = TOP + picture->depth * ROW + 18;
	fprintf(out, "<text x=\"%.0f\" y=\"%u\">", MARGIN, y);
	fputs("Orange: the program's own files.  Blue: libraries.", out);
	if (picture->hidden)
		fprintf(out, "  %s frames are too narrow to be shown.",
			figure_count(picture->hidden).text);
	fprintf(out, "</text>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
}

void export_svg(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct export_tree tree;
	struct picture picture = {.out = out, .tree = &tree, .metric = metric};
	struct export_visitor visitor = {enter, NULL, &picture};
	export_tree_init(&tree, profile, metric);
	buf_init(&picture.label, EXPORT_LABEL_BYTES);
	export_tree_walk(&tree, &visitor);
	put_head(&picture);
	picture.is_drawing = true;
	picture.hidden = 0;
	export_tree_walk(&tree, &visitor);
	put_foot(&picture);
	buf_fini(&picture.label);
	export_tree_fini(&tree);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of the page, and the only places where text enters it. */
#include "report/page.h"

#include <inttypes.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "report/page_parts.h"
#include "report/plot/canvas.h"
#include "report/utf8.h"

static const char layout_style[] =
	"*{box-sizing:border-box}body{margin:0 auto;max-width:64rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;"
	"background:var(--ground);color:var(--ink)}h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.2rem;"
	"border-bottom:1px solid var(--line);margin-top:2rem}h3{font-size:1.05rem;margin:1.5rem 0 "
	".2rem;overflow-wrap:anywhere}"
	"a{color:var(--c0)}nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;list-style:none}"
	".verdict{font-size:1.25rem;font-weight:600}.dim{color:var(--dim)}figure{margin:0}svg.plot{width:100%;height:"
	"auto}"
	".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}"
	"th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}"
	"td.w,th.w{text-align:left;white-space:normal;overflow-wrap:break-word;max-width:30rem}caption{text-align:left;"
	"color:var(--dim)}"
	"pre{overflow-x:auto;font-size:.82rem;line-height:1.35;padding:.6rem;border:1px solid var(--grid)}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem "
	"1rem}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}"
	"summary{cursor:pointer}button{font:inherit;padding:.2rem .8rem;color:var(--ink);background:var(--ground);"
	"border:1px solid var(--line);border-radius:4px}:focus-visible{outline:3px solid var(--c1);outline-offset:2px}"
	".zoom .dygraph-axis-label{color:var(--ink)}"
	".zoom{width:100%;height:22rem;margin:.5rem "
	"0}@media(max-width:40rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}"
	".figure{overflow-x:auto}svg.plot{min-width:44rem}}"
	"@media "
	"print{button,nav,.zoom{display:none}section{break-inside:auto}figure{break-inside:avoid}body{font-size:11pt}}";

bool page_can_zoom(void)
{
	return page_dygraphs_bytes > 0;
}

struct blob {
	const unsigned char *bytes;
	size_t count;
};

static void end_digest(EVP_MD_CTX *const *digest)
{
	EVP_MD_CTX_free(*digest);
}

/* "'sha256-…'" of what stands between the tags. */
static int put_hash(FILE *out, const struct blob *blobs, size_t count, struct tare_err *err)
{
	AUTO_CLEANUP(end_digest) EVP_MD_CTX *digest = EVP_MD_CTX_new();
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	char text[BASE64_ENCODED(EVP_MAX_MD_SIZE)];
	bool good = digest && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1;
	for (size_t i = 0; i < count && good; i++)
		good = EVP_DigestUpdate(digest, blobs[i].bytes, blobs[i].count) == 1;
	if (!good || EVP_DigestFinal_ex(digest, bytes, &length) != 1)
		return tare_fail(err, TARE_E_SYSTEM, "cannot work out a SHA-256");
	base64_encode(bytes, length, text);
	fprintf(out, "'sha256-%s'", text);
	return 0;
}

static struct blob blob_of(const char *text)
{
	return (struct blob){(const unsigned char *)text, strlen(text)};
}

static void put_blobs(FILE *out, const struct blob *blobs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fwrite(blobs[i].bytes, 1, blobs[i].count, out);
}

static void style_blobs(struct blob ret_blobs[3])
{
	ret_blobs[0] = blob_of(plot_style);
	ret_blobs[1] = blob_of(layout_style);
	ret_blobs[2] = (struct blob){page_dygraphs_style, page_dygraphs_style_bytes};
}

static void script_blobs(struct blob ret_blobs[2])
{
	ret_blobs[0] = (struct blob){page_dygraphs, page_dygraphs_bytes};
	ret_blobs[1] = (struct blob){page_script, page_script_bytes};
}

int page_begin(const struct page *page, struct tare_err *err)
{
	struct blob style[3];
	style_blobs(style);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
	      "'none'; style-src ",
		page->out);
	if (put_hash(page->out, style, 3, err))
		return -1;
	if (page_can_zoom()) {
		struct blob script[2];
		script_blobs(script);
		fputs("; script-src ", page->out);
		if (put_hash(page->out, script, 2, err))
			return -1;
	}
	fputs("\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<meta "
	      "name=\"color-scheme\" "
	      "content=\"light dark\">\n<title>",
		page->out);
	page_text(page, page->title, 120);
	fputs("</title>\n<style>", page->out);
	put_blobs(page->out, style, 3);
	fputs("</style>\n</head>\n<body>\n<main>\n<h1>", page->out);
	page_text(page, page->title, 200);
	fputs("</h1>\n", page->out);
	return 0;
}

void page_end(const struct page *page)
{
	time_t made_at = (time_t)page->made_at_s;
	struct tm broken;
	char text[48] = "";
	if (gmtime_r(&made_at, &broken))
		strftime(text, sizeof(text), ", %Y-%m-%d %H:%M UTC", &broken);
	fputs("</main>\n<footer><p class=\"dim\">", page->out);
	page_text(page, page->version, 80);
	fprintf(page->out, "%s. %s</p></footer>\n", text,
		page_can_zoom() ? "Zooming by dygraphs (MIT licence); all else works without scripts." : "");
	if (page_can_zoom()) {
		struct blob script[2];
		script_blobs(script);
		fputs("<script>", page->out);
		put_blobs(page->out, script, 2);
		fputs("</script>\n", page->out);
	}
	fputs("</body>\n</html>\n", page->out);
}

void page_section(const struct page *page, const char *id, const char *heading)
{
	fprintf(page->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
}

void page_section_end(const struct page *page)
{
	fputs("</section>\n", page->out);
}

void page_text(const struct page *page, const char *text, size_t most)
{
	svg_text_safe(page->out, text, most);
}

void page_paragraph(const struct page *page, const char *class, const char *text)
{
	fprintf(page->out, class ? "<p class=\"%s\">" : "<p>%s", class ? class : "");
	page_text(page, text, 0);
	fputs("</p>\n", page->out);
}

void page_list(const struct page *page)
{
	fputs("<dl>\n", page->out);
}

void page_item(const struct page *page, const char *name, const char *value)
{
	if (!value || !value[0])
		return;
	fprintf(page->out, "<dt>%s</dt><dd>", name);
	page_text(page, value, 600);
	fputs("</dd>\n", page->out);
}

void page_list_end(const struct page *page)
{
	fputs("</dl>\n", page->out);
}

void page_preformatted(const struct page *page, const char *text)
{
	enum { LINES_MOST = 300 };
	size_t lines = 0;
	fputs("<pre tabindex=\"0\">", page->out);
	for (const char *line = text; *line;) {
		if (lines++ == LINES_MOST) {
			fputs("… and more, which tare stat prints.\n", page->out);
			break;
		}
		size_t length = strcspn(line, "\n");
		AUTO_FREE char *copy = strndup(line, length);
		if (copy)
			page_text(page, copy, 0);
		fputc('\n', page->out);
		line += length + (line[length] == '\n');
	}
	fputs("</pre>\n", page->out);
}

/* ---- numbers for zooming ---- */

enum { ZOOM_COLUMNS = 1024, ZOOM_MARKS = 2000 };

/*
 * A row is three numbers of four bytes: x as a share of the axis in 2^32ths, then two values in ns. Both are set:
 * lowest and highest ordinary value; only the second: a stall; only the first: no answer, and where to draw that.
 */
struct zoom_row {
	uint32_t x;
	float one, other;
};

static int by_x(const void *one, const void *other)
{
	const struct zoom_row *left = one, *right = other;
	return (left->x > right->x) - (left->x < right->x);
}

static struct zoom_row zoom_row(const struct plot_time *time, int64_t x, double one, double other)
{
	double share = (double)x / (double)(time->end > 0 ? time->end : 1) * 4294967295.0;
	return (struct zoom_row){share < 0              ? 0
				 : share > 4294967295.0 ? UINT32_MAX
							: (uint32_t)share,
		(float)one, (float)other};
}

static size_t zoom_rows(const struct plot_target *target, struct zoom_row *rows)
{
	const struct plot_time *time = &target->time;
	const struct plot_grid *grid = &time->grid;
	size_t by = (grid->columns + ZOOM_COLUMNS - 1) / ZOOM_COLUMNS, count = 0;
	for (size_t from = 0; from < grid->columns; from += by) {
		struct plot_column joined = grid->column[from];
		for (size_t i = from + 1; i < from + by && i < grid->columns; i++)
			plot_column_join(&joined, &grid->column[i]);
		if (joined.n)
			rows[count++] = zoom_row(time, joined.min_x, (double)joined.min_ns, (double)joined.max_ns);
		if (time->marks_cut && joined.stalls)
			rows[count++] = zoom_row(time, joined.stall_x, NAN, (double)joined.stall_ns);
	}
	for (size_t i = 0; i < time->mark_count && i < ZOOM_MARKS; i++) {
		const struct plot_mark *mark = &time->marks[i];
		bool missing = mark->value_ns == TARE_NO_TIME;
		rows[count++] = zoom_row(
			time, mark->x, missing ? (double)target->max_ns : NAN, missing ? NAN : (double)mark->value_ns);
	}
	qsort(rows, count, sizeof(*rows), by_x);
	return count;
}

/* Little-endian whatever the machine. */
static void put_bytes(uint8_t *bytes, uint64_t value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
}

int page_zoom(const struct page *page, const struct plot_target *target, struct tare_err *err)
{
	enum { ROW_BYTES = 12 };
	if (!page_can_zoom() || !target->requests)
		return 0;
	size_t room = 2 * ZOOM_COLUMNS + ZOOM_MARKS + 2;
	AUTO_FREE struct zoom_row *rows = calloc(room, sizeof(*rows));
	AUTO_FREE uint8_t *bytes = calloc(room, ROW_BYTES);
	AUTO_FREE char *text = calloc(1, BASE64_ENCODED(room * ROW_BYTES));
	if (!rows || !bytes || !text)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a page");
	size_t count = zoom_rows(target, rows);
	for (size_t i = 0; i < count; i++) {
		const float values[2] = {rows[i].one, rows[i].other};
		put_bytes(bytes + i * ROW_BYTES, rows[i].x, 4);
		for (size_t k = 0; k < 2; k++) {
			uint32_t bits;
			memcpy(&bits, &values[k], sizeof(bits));
			put_bytes(bytes + i * ROW_BYTES + 4 + 4 * k, bits, 4);
		}
	}
	base64_encode(bytes, count * ROW_BYTES, text);
	fprintf(page->out, "<div class=\"zoomable\" data-unit=\"%s\" data-end=\"%.9g\" data-rows=\"%s\"></div>\n",
		target->time.by_request ? "request" : "s",
		(double)target->time.end / (target->time.by_request ? 1 : 1e9), text);
	return 0;
}

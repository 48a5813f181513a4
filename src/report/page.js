/*!
 * dygraphs: Copyright (c) 2006-2017 Dan Vanderkam, Paul Felix, Robert Konigsberg, David Eberlein, Google, Inc.,
 * Petr Shevtsov, mirabilos and others. Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal in the Software without restriction,
 * including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following
 * conditions: The above copyright notice and this permission notice shall be included in all copies or substantial
 * portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
 * INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
 * NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
 * SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later
 * Zoom for plots over time. Everything it shows is in the static plot as well; it reads numbers out of
 * attributes, never text, and builds nothing but text nodes. */
(function () {
	"use strict";
	var names = ["x", "lowest", "highest", "stall or first", "no answer"];

	/* The usual legend sets styles inline, which the page's policy refuses; what is under the pointer is told below. */
	Dygraph.PLUGINS = Dygraph.PLUGINS.filter(function (plugin) { return plugin !== Dygraph.Plugins.Legend; });

	function rowsOf(element) {
		var raw = atob(element.dataset.rows), end = Number(element.dataset.end), bytes = new Uint8Array(raw.length), rows = [];
		for (var i = 0; i < raw.length; i++)
			bytes[i] = raw.charCodeAt(i);
		var view = new DataView(bytes.buffer);
		for (var at = 0; at + 12 <= bytes.length; at += 12) {
			var x = view.getUint32(at, true) / 4294967295 * end, one = view.getFloat32(at + 4, true), other = view.getFloat32(at + 8, true);
			if (isNaN(one))
				rows.push([x, null, null, Math.max(other, 1), null]);
			else if (isNaN(other))
				rows.push([x, null, null, null, Math.max(one, 1)]);
			else
				rows.push([x, Math.max(one, 1), Math.max(other, 1), null, null]);
		}
		return rows;
	}

	function duration(ns) {
		var units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
		for (var i = 0; i < units.length; i++)
			if (ns >= units[i][0] || i === units.length - 1)
				return Number((ns / units[i][0]).toPrecision(4)) + " " + units[i][1];
	}

	function colour(name) {
		return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	}

	function show(element, button) {
		var place = document.createElement("div");
		place.className = "zoom";
		place.tabIndex = 0;
		place.setAttribute("role", "application");
		place.setAttribute("aria-label", "Zoomable plot: plus and minus zoom, arrows move, 0 shows everything");
		element.appendChild(place);
		var told = document.createElement("output");
		told.className = "dim";
		element.appendChild(told);
		var rows = rowsOf(element), unit = element.dataset.unit;
		var whole = [rows[0][0], rows[rows.length - 1][0]];
		if (!(whole[1] > whole[0]))
			whole = [whole[0] - 0.5, whole[0] + 0.5];
		var chart = new Dygraph(place, rows, {
			labels: names, logscale: true, drawPoints: true, strokeWidth: 0, pointSize: 1.5, highlightCircleSize: 4,
			colors: [colour("--d4"), colour("--c0"), colour("--c6"), colour("--c7")], dateWindow: whole,
			axisLineColor: colour("--line"), gridLineColor: colour("--grid"), labelsKMB: false,
			series: { "stall or first": { pointSize: 4 }, "no answer": { pointSize: 4 } },
			axes: {
				y: { axisLabelFormatter: duration, axisLabelWidth: 64 }
			},
			highlightCallback: function (event, x, points) {
				told.textContent = points.reduce(function (text, point) {
					return text + ", " + point.name + " " + duration(point.yval);
				}, unit === "s" ? "at " + x.toFixed(6) + " s" : "request " + x);
			},
			drawCallback: function (drawn) {
				element.dataset.range = drawn.xAxisRange().join(" ");
			}
		});
		function move(factor, shift) {
			var now = chart.xAxisRange(), half = (now[1] - now[0]) / 2 * factor, middle = (now[0] + now[1]) / 2 + shift * (now[1] - now[0]);
			chart.updateOptions({ dateWindow: [Math.max(whole[0], middle - half), Math.min(whole[1], middle + half)] });
		}
		place.addEventListener("keydown", function (event) {
			var known = true;
			if (event.key === "+" || event.key === "=")
				move(0.5, 0);
			else if (event.key === "-")
				move(2, 0);
			else if (event.key === "ArrowLeft")
				move(1, -0.25);
			else if (event.key === "ArrowRight")
				move(1, 0.25);
			else if (event.key === "0")
				chart.updateOptions({ dateWindow: whole });
			else
				known = false;
			if (known)
				event.preventDefault();
		});
		place.focus();
		button.remove();
	}

	document.querySelectorAll(".zoomable").forEach(function (element) {
		var button = document.createElement("button");
		button.type = "button";
		button.textContent = "Zoom";
		button.addEventListener("click", function () { show(element, button); });
		element.appendChild(button);
	});
	window.addEventListener("beforeprint", function () {
		document.querySelectorAll("details").forEach(function (element) { element.open = true; });
	});
}());

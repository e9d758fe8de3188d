/* SPDX-License-Identifier: GPL-3.0-or-later
 * Sorts and filters the table of runs. Without it the table stands there in full. The address keeps the state:
 * #sort=update_s&order=down&filter=dos */
(() => {
	'use strict';
	const FIRST = 200, MORE = 1000; /* rows that are shown: a browser is slow to lay out ten thousand */
	const table = document.getElementById('runs'), body = table.tBodies[0];
	const heads = Array.from(table.tHead.rows[0].cells);
	const filter = document.getElementById('filter'), count = document.getElementById('count'), more = document.getElementById('more');
	const collator = new Intl.Collator('en', {numeric: true});
	const rows = Array.from(body.rows, (row, index) => {
		const cells = Array.from(row.cells, cell => cell.textContent.trim());
		return {row, index, cells, text: cells.join(' ').toLowerCase()};
	});
	const state = {column: -1, isDown: false, filter: '', limit: FIRST};

	/* Empty cells come last in both orders; equal ones keep the order of the page. */
	function compare(a, b) {
		const x = a.cells[state.column], y = b.cells[state.column];
		if (x === '' || y === '')
			return (x === '') - (y === '') || a.index - b.index;
		const isText = heads[state.column].classList.contains('t');
		const order = isText ? collator.compare(x, y) : Number(x) - Number(y);
		return (state.isDown ? -order : order) || a.index - b.index;
	}

	const operators = {
		'=': (x, y) => x === y, '!=': (x, y) => x !== y, '<': (x, y) => x < y, '<=': (x, y) => x <= y, '>': (x, y) => x > y, '>=': (x, y) => x >= y
	};

	/* "mbs=1", "update_s<2": a column of the table; any other word is looked for anywhere. */
	function test(word) {
		const parts = /^([a-z_]+)(<=|>=|!=|=|<|>)(.+)$/.exec(word);
		const column = parts ? heads.findIndex(head => head.dataset.key.toLowerCase() === parts[1]) : -1;
		if (column < 0)
			return row => row.text.includes(word);
		const value = Number(parts[3]);
		if (Number.isNaN(value))
			return row => operators[parts[2]](row.cells[column].toLowerCase(), parts[3]);
		return row => row.cells[column] !== '' && operators[parts[2]](Number(row.cells[column]), value);
	}

	function remember() {
		const parts = new URLSearchParams();
		if (state.column >= 0) {
			parts.set('sort', heads[state.column].dataset.key);
			parts.set('order', state.isDown ? 'down' : 'up');
		}
		if (state.filter)
			parts.set('filter', state.filter);
		history.replaceState(null, '', '#' + (parts.toString() || 'all'));
	}

	function draw() {
		const tests = state.filter.toLowerCase().split(/\s+/).filter(Boolean).map(test);
		const found = rows.filter(row => tests.every(accepts => accepts(row)));
		if (state.column >= 0)
			found.sort(compare);
		const n = Math.min(state.limit, found.length);
		body.replaceChildren(...found.slice(0, n).map(item => item.row));
		heads.forEach((head, i) => {
			if (i === state.column)
				head.setAttribute('aria-sort', state.isDown ? 'descending' : 'ascending');
			else
				head.removeAttribute('aria-sort');
		});
		count.value = (n < found.length ? 'the first ' + n + ' of ' : '') + found.length + (tests.length ? ' of ' + rows.length : '') + ' runs';
		more.hidden = n === found.length;
		more.textContent = 'Show ' + Math.min(MORE, found.length - n) + ' more';
	}

	function recall() {
		const parts = new URLSearchParams(location.hash.slice(1));
		if (!location.hash.includes('='))
			return;
		state.column = heads.findIndex(head => head.dataset.key === parts.get('sort'));
		state.isDown = parts.get('order') === 'down';
		state.filter = filter.value = parts.get('filter') || '';
		draw();
	}

	heads.forEach((head, i) => {
		const button = head.querySelector('button');
		button.disabled = false;
		button.addEventListener('click', () => {
			state.isDown = state.column === i && !state.isDown;
			state.column = i;
			draw();
			remember();
		});
	});
	filter.addEventListener('input', () => {
		state.filter = filter.value;
		draw();
		remember();
	});
	more.addEventListener('click', () => {
		state.limit += MORE;
		draw();
	});
	window.addEventListener('hashchange', recall);
	document.getElementById('tools').hidden = false;
	draw();
	recall();
})();

// SPDX-License-Identifier: GPL-3.0-or-later
// report.mjs CHROMIUM PAGE [FOLDER]: uses a report as a person does and prints what does not hold. FOLDER: screenshots go there.
import {writeFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [program, file, folder] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const browser = new Browser(program);
let failures = 0;

function check(holds, what, seen = '') {
	if (holds)
		return;
	failures++;
	console.log(`${what}${seen === '' ? '' : ': ' + JSON.stringify(seen)}`);
}

const column = key => `(() => {
	const at = Array.from(document.querySelectorAll('#runs thead th')).findIndex(th => th.dataset.key === '${key}');
	return Array.from(document.querySelectorAll('#runs tbody tr'), tr => tr.cells[at].textContent);
})()`;
const head = key => `document.querySelector('#runs th[data-key="${key}"]')`;
const settled = 'new Promise(done => setTimeout(done, 100))';
const isSorted = (values, isDown) => {
	const numbers = values.filter(value => value !== '').map(Number);
	const isOrdered = numbers.every((value, i) => i === 0 || (isDown ? numbers[i - 1] >= value : numbers[i - 1] <= value));
	return numbers.length > 2 && isOrdered && values.slice(numbers.length).every(value => value === '');
};

async function sorting(tab) {
	const before = await tab.value(column('update_s'));
	await tab.value(`${head('update_s')}.querySelector('button').click()`);
	check(isSorted(await tab.value(column('update_s')), false), 'a click does not sort');
	check(await tab.value(`${head('update_s')}.getAttribute('aria-sort')`) === 'ascending', 'aria-sort is not set');
	await tab.value(`${head('update_s')}.querySelector('button').click()`);
	check(isSorted(await tab.value(column('update_s')), true), 'a second click does not turn the order');
	await tab.value(`${head('tokens_per_s')}.querySelector('button').focus()`);
	await tab.key('Enter', '\r');
	check(isSorted(await tab.value(column('tokens_per_s')), false), 'Enter on a heading does not sort');
	check(await tab.value(`document.querySelectorAll('#runs th[aria-sort]').length`) === 1, 'two headings claim the order');
	check((await tab.value('location.hash')).includes('sort=tokens_per_s'), 'the address does not say the order');
	check((await tab.value(column('update_s'))).length === before.length, 'sorting loses rows');
}

async function filtering(tab) {
	await tab.value(`document.getElementById('filter').focus()`);
	await tab.type('hybrid fraction>=0.5');
	const fractions = await tab.value(column('fraction'));
	check(fractions.length > 0 && fractions.every(text => Number(text) >= 0.5), 'filtering by a column', fractions);
	check((await tab.value(column('policy'))).every(text => text.includes('hybrid')), 'filtering by a word');
	check(/^\d+ of \d+ runs$/.test(await tab.value(`document.getElementById('count').value`)), 'the count of runs');
	await tab.value(`document.getElementById('filter').value = 'no such run'; document.getElementById('filter').dispatchEvent(new Event('input'))`);
	check((await tab.value(column('policy'))).length === 0, 'a filter that nothing meets');
	await tab.value(`location.hash = '#sort=iteration_s&order=down&filter=hybrid'; ${settled}`);
	check(isSorted(await tab.value(column('iteration_s')), true), 'the address does not sort');
	check((await tab.value(column('policy'))).every(text => text.includes('hybrid')), 'the address does not filter');
	await tab.value(`location.hash = '#filter='; ${settled}`);
	await tab.value(`document.getElementById('more').hidden || document.getElementById('more').click()`);
	check(await tab.value(`document.getElementById('more').hidden`), 'show all');
}

async function structure(tab) {
	const ids = await tab.value(`Array.from(document.querySelectorAll('[id]'), e => e.id)`);
	check(new Set(ids).size === ids.length, 'an id is there twice', ids.filter((id, i) => ids.indexOf(id) !== i).slice(0, 3));
	const links = await tab.value(`Array.from(document.querySelectorAll('[href^="#"]'), e => e.getAttribute('href').slice(1))`);
	check(links.every(link => ids.includes(link)), 'a link leads nowhere', links.filter(link => !ids.includes(link)).slice(0, 3));
	check(await tab.value('document.scripts.length') === 1, 'scripts of somebody else');
	check(await tab.value(`document.querySelectorAll('img, iframe, object, embed, form, link:not([rel=icon])').length`) === 0, 'foreign elements');
	check(await tab.value(`document.querySelectorAll('figure svg').length`) > 1, 'figures');
	check(await tab.value(`Array.from(document.querySelectorAll('*'), e => Array.from(e.attributes, a => a.name)).flat().every(name => !name.startsWith('on'))`),
		'an event attribute');
}

/* Contrast of a text with what is behind it: WCAG 2 relative luminance. */
const contrast = `(() => {
	const rgb = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
	const light = text => rgb(text).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const page = light(getComputedStyle(document.body).backgroundColor);
	const ratio = text => { const l = light(text); return (Math.max(l, page) + 0.05) / (Math.min(l, page) + 0.05); };
	const texts = Array.from(document.querySelectorAll('figure svg text'))
		.filter(e => !['rgb(26,26,26)', 'rgb(255,255,255)'].includes(e.parentNode.getAttribute('fill')));
	return Math.min(ratio(getComputedStyle(document.body).color), ...texts.map(e => ratio(getComputedStyle(e).fill)));
})()`;

async function looks(tab) {
	for (const width of [400, 1600])
		for (const dark of [false, true]) {
			const name = `${width}-${dark ? 'dark' : 'light'}`;
			await tab.look({width, height: 900, dark});
			check(await tab.value('document.documentElement.scrollWidth <= innerWidth'), `${name}: the page is wider than the window`);
			check(await tab.value(contrast) >= 4.5, `${name}: contrast`, await tab.value(contrast));
			const text = await tab.value(`Math.min(...Array.from(document.querySelectorAll('figure svg'), e => e.getBoundingClientRect().width / e.viewBox.baseVal.width * 11))`);
			check(text >= 8, `${name}: text in figures is too small`, text);
			if (folder)
				writeFileSync(`${folder}/report-${name}.png`, await tab.screenshot(true));
		}
	await tab.look({width: 800, dark: true, media: 'print'});
	check(await tab.value(`getComputedStyle(document.querySelector('nav')).display`) === 'none', 'the menu is printed');
	check(await tab.value(`getComputedStyle(document.body).backgroundColor`) === 'rgb(255, 255, 255)', 'print is not on white');
}

try {
	const tab = await browser.tab();
	await tab.open(url);
	await structure(tab);
	await sorting(tab);
	await filtering(tab);
	await looks(tab);
	check(tab.messages.length === 0, 'the console has', tab.messages);
	check(tab.requests.every(address => address.split('#')[0] === url || address === 'data:,'), 'it asks for', tab.requests);
} catch (error) {
	failures++;
	console.log(String(error));
} finally {
	await browser.close();
}
console.log(failures ? `${failures} checks failed` : 'the page works');

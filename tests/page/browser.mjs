// SPDX-License-Identifier: GPL-3.0-or-later
// A headless Chromium over its debugging pipe: pages, what they log and ask for, keys, screenshots. Needs nothing but node.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
	'--disable-sync', '--disable-dev-shm-usage', '--hide-scrollbars', '--remote-debugging-pipe'];

class Session {
	constructor(browser, id) {
		this.browser = browser;
		this.id = id;
		this.messages = []; // console, exceptions, log entries
		this.requests = []; // addresses beside the page itself
	}

	send(method, params = {}) {
		return this.browser.send(method, params, this.id);
	}

	receive({method, params}) {
		if (method === 'Runtime.consoleAPICalled')
			this.messages.push(params.args.map(arg => arg.value ?? arg.description).join(' '));
		if (method === 'Runtime.exceptionThrown')
			this.messages.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
		if (method === 'Log.entryAdded')
			this.messages.push(params.entry.text);
		if (method === 'Network.requestWillBeSent')
			this.requests.push(params.request.url);
	}

	async open(url, {width = 1600, height = 1000, dark = false} = {}) {
		for (const domain of ['Runtime', 'Log', 'Network', 'Page'])
			await this.send(domain + '.enable');
		await this.look({width, height, dark});
		const loaded = this.browser.once(this.id, 'Page.loadEventFired');
		await this.send('Page.navigate', {url});
		await loaded;
	}

	async look({width, height = 1000, dark = false, media = ''}) {
		await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
		await this.send('Emulation.setEmulatedMedia', {media, features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
	}

	async value(expression) {
		const {result, exceptionDetails} = await this.send('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true});
		if (exceptionDetails)
			throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
		return result.value;
	}

	async key(key, text) {
		const code = {Enter: 13, Tab: 9}[key] ?? 0;
		await this.send('Input.dispatchKeyEvent', {type: 'keyDown', key, code: key, text, windowsVirtualKeyCode: code});
		await this.send('Input.dispatchKeyEvent', {type: 'keyUp', key, code: key, windowsVirtualKeyCode: code});
	}

	type(text) {
		return this.send('Input.insertText', {text});
	}

	async screenshot(whole = false) {
		const {data} = await this.send('Page.captureScreenshot', {captureBeyondViewport: whole});
		return Buffer.from(data, 'base64');
	}
}

export class Browser {
	constructor(program) {
		this.folder = mkdtempSync(join(tmpdir(), 'dos-page-'));
		this.child = spawn(program, [...flags, '--user-data-dir=' + this.folder, 'about:blank'], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
		this.pending = new Map();
		this.sessions = new Map();
		this.waiting = [];
		this.next = 1;
		this.gone = new Promise(done => this.child.on('exit', done).on('error', done));
		this.gone.then(() => this.pending.forEach(({reject}) => reject(new Error('the browser ended'))));
		this.child.stdio[3].on('error', () => {});
		let text = '';
		this.child.stdio[4].setEncoding('utf8').on('data', chunk => {
			const parts = (text + chunk).split('\0');
			text = parts.pop();
			parts.forEach(part => this.receive(JSON.parse(part)));
		});
	}

	receive(message) {
		const call = this.pending.get(message.id);
		if (call) {
			this.pending.delete(message.id);
			if (message.error)
				call.reject(new Error(message.error.message));
			else
				call.resolve(message.result);
			return;
		}
		this.sessions.get(message.sessionId)?.receive(message);
		this.waiting = this.waiting.filter(({id, method, done}) => {
			const isIt = id === message.sessionId && method === message.method;
			if (isIt)
				done(message.params);
			return !isIt;
		});
	}

	once(id, method) {
		return new Promise(done => this.waiting.push({id, method, done}));
	}

	send(method, params = {}, sessionId) {
		const id = this.next++;
		this.child.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
		return new Promise((resolve, reject) => this.pending.set(id, {resolve, reject}));
	}

	async tab() {
		const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
		const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
		const session = new Session(this, sessionId);
		this.sessions.set(sessionId, session);
		return session;
	}

	async close() {
		await this.send('Browser.close').catch(() => {});
		await this.gone;
		rmSync(this.folder, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
	}
}

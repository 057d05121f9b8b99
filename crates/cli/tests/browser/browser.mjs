// What the walks share: a real browser, eyes for what goes wrong, a hand that sends forms, and a look by axe. Nothing here knows what is
// right. Every walk tells which pages it got and which forms it sent by hand; what it should have is in walks.txt.
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import assert from 'node:assert/strict';

const tools = process.env.PLACET_BROWSER;
const require = createRequire(join(tools, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const given = JSON.parse(process.env.PLACET_GIVEN);
export { assert };

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });

// ---- what is told

const port = new URL(given.url).port;
const walked = new Set();
const telling = [];

// A page counts when it was answered; a form when a person's hand sent it (browsers say so themselves) and it was taken.
async function tell(answer, plain) {
  const request = answer.request();
  const { port: at, pathname } = new URL(request.url());
  if (at !== port || answer.status() >= 400) return;
  // A page that another one looks up to stay up to date is not looked at.
  const isLookedUp = request.resourceType() === 'fetch' && (answer.headers()['content-type'] ?? '').startsWith('text/html');
  if (request.method() === 'GET') return isLookedUp || walked.add(`GET ${pathname}`);
  const headers = await request.allHeaders();
  // A mark is sent by the script when its button is pressed, and the page stays.
  const isMark = request.resourceType() === 'fetch' && pathname.endsWith('/seen');
  const isByHand = isMark || (request.isNavigationRequest() && headers['sec-fetch-user'] === '?1');
  if (isByHand) walked.add(`${request.method()} ${pathname}${plain ? ' plain' : ''}`);
}

// A new person at a new screen. Whatever the page complains about is a failure, a broken content policy above all.
export async function screen(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 960 }, locale: 'en-GB', reducedMotion: 'reduce', ...options });
  const plain = options.javaScriptEnabled === false;
  context.on('response', (answer) => telling.push(tell(answer, plain).catch(() => {})));
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', (error) => page.complaints.push(error.message));
  // What is saved is no answer to a page.
  page.on('download', (saved) => telling.push(saved.failure().then((failure) => {
    if (failure === null) walked.add(`GET ${new URL(saved.url()).pathname}`);
  })));
  page.setDefaultTimeout(20_000);
  return page;
}

// ---- what people do

// Comes in by a link, as a person does: by its button.
export async function enter(page, link) {
  await page.goto(link);
  await page.getByRole('button', { name: /Come in|Entrer/ }).click();
  await page.waitForURL('**/settings');
}

// Presses a button that sends a form, and is where that leads. A decision right after another one would be taken for a slip: people pause.
export async function send(page, button) {
  if (Date.now() - (page.sentAt ?? 0) < 2_500) await page.waitForTimeout(600);
  const arrived = page.waitForEvent('framenavigated', { predicate: (frame) => frame === page.mainFrame() });
  const answered = page.waitForResponse((answer) => answer.request().method() === 'POST' && answer.request().isNavigationRequest());
  await button.click();
  const answer = await answered;
  await arrived;
  page.sentAt = Date.now();
  if (answer.status() >= 400) assert.fail(`${answer.url()}: ${answer.status()}: ${await page.locator('main').innerText()}`);
}

// The same with a form that is not taken: the page that says so.
export async function refused(page, button, status) {
  if (Date.now() - (page.sentAt ?? 0) < 2_500) await page.waitForTimeout(600);
  const arrived = page.waitForEvent('framenavigated', { predicate: (frame) => frame === page.mainFrame() });
  const answered = page.waitForResponse((answer) => answer.request().method() === 'POST' && answer.request().isNavigationRequest());
  await button.click();
  assert.equal((await answered).status(), status);
  await arrived;
  page.sentAt = Date.now();
}

// What is filled in or chosen, by the words beside it.
export const field = (page, label) => page.locator('input, select, textarea').and(page.getByLabel(label, { exact: typeof label === 'string' }));

// What somebody else does meanwhile, at a terminal.
export function meanwhile(command) {
  execFileSync(command[0], command.slice(1), { cwd: given.cwd, stdio: 'pipe' });
}

// The page says that it is told of news.
export const isLive = (page) => page.locator('#live:not([hidden])').waitFor();

// ---- what is looked at

export async function shot(page, name) {
  mkdirSync(process.env.PLACET_SHOTS, { recursive: true });
  // What stays in sight is drawn where somebody stands in the page.
  await ask(page, 'scrollTo(0, 0)');
  await page.screenshot({ path: join(process.env.PLACET_SHOTS, `${name}.png`), fullPage: true });
}

const GRAVE = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => ['serious', 'critical'].includes(impact))
  .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' | ')))`;
const WIDER = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

// Asked from outside of the page, so that its content policy stays in force.
export async function ask(page, expression) {
  page.asks ??= await page.context().newCDPSession(page);
  const asked = { expression, awaitPromise: true, returnByValue: true, allowUnsafeEvalBlockedByCSP: true };
  const { result, exceptionDetails } = await page.asks.send('Runtime.evaluate', asked);
  assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
  return result.value;
}

// What a page says for itself, where it says more than a word: not what agents, people and policies wrote, nor whose something is and in
// which state, which are names and machines' words.
const OWN = 'h2, h3, p:not(.by), label, legend, button, summary, dt, dd, th, .note, .empty p, nav a, .keys, footer, .steps.across small, .tally, .facts, .reasons small, #routes td, .outcome p';
const WORDS = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = new Set();
  while (walker.nextNode()) {
    const [text, place] = [walker.currentNode.data.trim(), walker.currentNode.parentElement];
    const isQuoted = place.closest('code, pre, blockquote, kbd, q, [lang]:not(html), main a:not(.button)') !== null;
    if (!isQuoted && place.closest('${OWN}') && /[a-zà-ÿ]{2,}.*\\s.*[a-zà-ÿ]{2,}/i.test(text)) found.add(text);
  }
  return [...found];
})()`;
export const words = (page) => ask(page, WORDS);

// What axe finds that keeps people out, and what does not fit.
export async function look(page, what) {
  await ask(page, `${axe};0`);
  assert.deepEqual(await ask(page, GRAVE), [], what);
  const wider = await ask(page, WIDER);
  assert.ok(wider <= 1, `${what} is ${wider} pixels wider than the screen`);
}

// The same page as it is, in light, in the dark and on a phone.
const WAYS = [
  ['light', { colorScheme: 'light' }, { width: 1440, height: 960 }],
  ['dark', { colorScheme: 'dark' }, { width: 1440, height: 960 }],
  ['phone', { colorScheme: 'light' }, { width: 390, height: 844 }],
];
export async function lookEveryWay(page, name) {
  for (const [way, media, viewport] of WAYS) {
    await page.emulateMedia(media);
    await page.setViewportSize(viewport);
    await look(page, `${name} (${way})`);
    await shot(page, `${name}-${way}`);
  }
}

export async function finish() {
  await Promise.all(telling);
  await browser.close();
  console.log(JSON.stringify([...walked].sort()));
}

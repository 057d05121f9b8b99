// What the walks share: a real browser, eyes for what goes wrong, and a look by axe. Nothing here knows what is right.
import { createRequire } from 'node:module';
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

// A new person at a new screen. Whatever the page complains about is a failure, a broken content policy above all.
export async function screen(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 960 }, locale: 'en-GB', ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', (error) => page.complaints.push(error.message));
  page.setDefaultTimeout(20_000);
  return page;
}

// Comes in by a link, as a person does: by its button.
export async function enter(page, link) {
  await page.goto(link);
  await page.getByRole('button', { name: /Come in|Entrer/ }).click();
  await page.waitForURL('**/settings');
}

export async function shot(page, name) {
  mkdirSync(process.env.PLACET_SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.PLACET_SHOTS, `${name}.png`), fullPage: true });
}

// What axe finds that keeps people out. It is put in past the content policy, in a screen of its own.
export async function look(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const grave = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  const told = grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(' | ')}`);
  assert.deepEqual(told, [], what);
}

export async function finish() {
  await browser.close();
  console.log('ok');
}

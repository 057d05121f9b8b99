// Everything that people set for themselves and for others, by its form: with a script, and without one.
import { ask, assert, enter, field, finish, given, lookEveryWay, refused, screen, send } from './browser.mjs';

const PASSWORD = 'a sentence that is long enough';

async function settles(page, of, options) {
  const button = (name) => page.getByRole('button', { name });
  const panel = (heading) => page.locator('section.panel').filter({ has: page.getByRole('heading', { name: heading, exact: true }) });
  const settings = () => page.getByRole('link', { name: 'Settings' }).first().click();

  // A password, and in by it; another one, which takes the first.
  await field(page, 'Password').fill(PASSWORD);
  await send(page, button('Set password'));
  await field(page, 'Current password').fill(PASSWORD);
  await field(page, 'New password').fill(`${PASSWORD} too`);
  await send(page, button('Set password'));
  await send(page, button('Sign out'));
  await field(page, 'Name').fill(of.name);
  await field(page, 'Password').fill(`${PASSWORD} too`);
  await send(page, page.getByRole('button', { name: 'Sign in', exact: true }));
  await page.getByRole('heading', { name: /Inbox/ }).waitFor();

  // Somewhere else the same person is signed in, and is not any more.
  const elsewhere = await screen(options);
  await elsewhere.goto(`${given.url}/enter`);
  await field(elsewhere, 'Name').fill(of.name);
  await field(elsewhere, 'Password').fill(`${PASSWORD} too`);
  await send(elsewhere, elsewhere.getByRole('button', { name: 'Sign in', exact: true }));
  await settings();
  await send(page, panel('Where you are signed in').getByRole('button', { name: 'End' }).first());
  await elsewhere.reload();
  assert.match(elsewhere.url(), /\/enter/, 'whoever is ended is asked to sign in');

  // Whoever could stand in is there to be chosen: no agent, no worker, nobody who decides nothing, not oneself.
  const offered = await field(page, 'Who is told instead').locator('option').allInnerTexts();
  assert.ok(offered.includes('ada') && !['tom', 'tess', 'w1', of.name].some((name) => offered.includes(name)), `${offered}`);
  await field(page, 'Who is told instead').selectOption({ label: 'ada' });
  await field(page, 'For how many days').fill('3');
  await send(page, button('I am away'));
  await panel('Being away').getByText('ada').waitFor();
  await send(page, button('I am back'));
  await button('I am away').waitFor();

  await send(page, page.getByRole('row', { name: /tess/ }).getByRole('button', { name: 'Make a one-time link' }));
  const link = await page.getByRole('status').getByText('/enter/').innerText();
  await elsewhere.goto(link.trim());
  await elsewhere.getByRole('heading', { name: 'tess' }).waitFor();

  // Whether people would be told: one test by each route, and what is wrong with one that leads nowhere.
  await settings();
  const route = (name) => panel('How people are told').getByRole('row', { name });
  await send(page, route(`${of.name}-chat`).getByRole('button', { name: 'Send a test' }));
  await route(`${of.name}-chat`).getByText('taken', { exact: true }).waitFor();
  if (options.javaScriptEnabled) {
    await send(page, route('closed').getByRole('button', { name: 'Send a test' }));
    await route('closed').getByText('not taken:').waitFor();
    await lookEveryWay(page, 'routes');
    await page.setViewportSize({ width: 1440, height: 960 });
  }
  assert.ok(!(await page.content()).includes('canary'), 'the path of an address is a secret');

  await settings();
  await field(panel('Passkeys where two people are asked'), 'Reason').fill('two people sign');
  await send(page, button('Demand passkeys of everybody'));
  await field(panel('Passkeys where two people are asked'), 'Reason').fill('not yet');
  await send(page, button('Demand them no longer'));

  // One press stops nothing: the form is unfolded and asks for a reason.
  await page.locator('summary', { hasText: 'Stop everything' }).click();
  await field(panel('The switch'), 'Reason').fill('something is wrong');
  await send(page, page.locator('form#halt').getByRole('button'));
  await page.getByText('Everything is stopped').first().waitFor();
  await field(panel('The switch'), 'Reason').fill('it was nothing');
  await send(page, button('Let everything go on'));
  assert.equal(await page.getByText('Everything is stopped').count(), 0);

  // What the rules would say; nothing comes of it.
  await page.getByRole('link', { name: 'Policy' }).first().click();
  await field(page, 'Tool').selectOption('nmap');
  await field(page, 'Arguments, one on each line').fill('-sV');
  await field(page, 'Target').fill('10.0.0.5 or so');
  await refused(page, button('Judge'), 422);
  await page.getByRole('heading', { name: 'Nothing was judged' }).waitFor();
  assert.equal(await field(page, 'Arguments, one on each line').inputValue(), '-sV', 'what was written stays');
  assert.equal(await field(page, 'Target').inputValue(), '10.0.0.5 or so');
  assert.equal(await field(page, 'Target').getAttribute('aria-describedby'), 'target-flaw', 'and the field says what is wrong');
  await page.locator('#target-flaw').waitFor();
  if (options.javaScriptEnabled) await lookEveryWay(page, 'not-judged');
  await page.setViewportSize({ width: 1440, height: 960 });
  await field(page, 'Target').fill('10.0.0.5');
  await send(page, button('Judge'));
  const verdict = page.locator('#verdict');
  await verdict.getByRole('heading', { name: 'Verdict' }).waitFor();
  assert.ok((await verdict.boundingBox()).y < 480, 'the verdict stands where it is seen');
  if (options.javaScriptEnabled) assert.equal(await ask(page, 'document.activeElement.id'), 'verdict', 'and is read out');
  await verdict.getByText('one person').first().waitFor();

  // The other language, and back.
  await page.getByRole('link', { name: 'Français' }).click();
  await page.getByRole('link', { name: 'À décider' }).first().waitFor();
  await page.getByRole('link', { name: 'English' }).click();
  await page.getByRole('link', { name: 'Inbox' }).first().waitFor();
}

for (const [index, of] of given.of.entries()) {
  const options = { javaScriptEnabled: index === 0 };
  const page = await screen(options);
  await enter(page, of.link);
  await settles(page, of, options);
  // Browsers note that something was not taken.
  assert.deepEqual(page.complaints.filter((text) => !text.includes('422')), []);
}
await finish();

// Every decision about a run, by its form: with a script, and without one. What its agent does meanwhile is done at a terminal.
import { assert, enter, finish, given, lookEveryWay, meanwhile, screen, send } from './browser.mjs';

async function runs(page, of, looks, hasKeys) {
  const button = (name) => page.getByRole('button', { name });
  const open = (run) => page.goto(`${given.url}/runs/${run}`);
  const is = (state) => page.locator('h1 .status', { hasText: state }).waitFor();
  const tom = (...args) => meanwhile([given.binary, '--as', 'tom', ...args]);
  const reason = (form) => page.locator(`form#${form}`).getByLabel(/^Reason/);

  // A plan is sent back, another one approved; it is started, held, let go on and ended.
  await open(of.refused);
  await reason('reject').fill('too vague');
  await send(page, button('Send back'));
  await is('DRAFT');
  await open(of.whole);
  await send(page, button('Approve'));
  await is('APPROVED');
  await send(page, button('Start'));
  tom('action', 'propose', of.whole, 'ls');
  await open(of.whole);
  await is('EXECUTING');
  await send(page, button('Pause'));
  await is('PAUSED');
  await send(page, button('Resume'));
  await is('EXECUTING');
  await page.locator('summary', { hasText: 'End it for good' }).click();
  await reason('cancel').fill('not needed any more');
  await send(page, button('End it for good'));
  await is('CANCELLED');

  // The budget is used up: raises it and resumes the run.
  await open(of.used);
  await page.getByText('The budget is used up').waitFor();
  await page.locator('form#set-budget').getByLabel('Actions executed').fill('9');
  await looks('used-up');
  await send(page, button('Set budget'));
  await is('EXECUTING');

  // Checkpoints: let it go on, let it go on otherwise, hold it there, send it back.
  await open(of.stops);
  await page.getByText('It stands still until you decide').waitFor();
  await send(page, button('Let it go on'));
  await is('EXECUTING');
  tom('run', 'step', of.stops, '2', '--summary', 'the second');
  await open(of.stops);
  await page.locator('summary', { hasText: 'Let it go on otherwise' }).click();
  await page.getByLabel('Note for the agent').fill('only what is public');
  await page.getByLabel(/Other steps instead/).fill('look once more\nwrite it down');
  await send(page, page.locator('form#modify').getByRole('button'));
  await is('EXECUTING');
  await page.getByText('look once more').first().waitFor();
  tom('run', 'step', of.stops, '3', '--summary', 'once more');
  await open(of.stops);
  await send(page, button('Pause'));
  await is('PAUSED');
  await send(page, button('Resume'));
  await is('CHECKPOINT_REACHED');
  await reason('reject').fill('that will not do');
  await send(page, button('Reject'));
  await is(/EXECUTING|PAUSED/);

  // Results are sent back, and accepted.
  await open(of.finished);
  await reason('reject').fill('one is missing');
  await send(page, button('Send back'));
  await is('EXECUTING');
  tom('run', 'finish', of.finished, '--summary', 'now all of them');
  await open(of.finished);
  if (hasKeys) {
    await page.keyboard.press('a');
    await page.locator('form#complete button:focus').waitFor();
  }
  await send(page, button(/^Accept/));
  await is('COMPLETED');

  // Hosts that its actions were refused: one is opened and closed again, another one is not.
  await open(of.wishes);
  await looks('wishes');
  const wish = (host) => page.getByRole('listitem').filter({ hasText: host });
  await wish(of.hosts[0]).getByLabel('Allow, minutes').fill('5');
  await send(page, wish(of.hosts[0]).getByRole('button', { name: 'Allow' }));
  await wish(of.hosts[1]).getByLabel('Reason').fill('nobody knows it');
  await send(page, wish(of.hosts[1]).getByRole('button', { name: 'Reject' }));
  await wish(of.hosts[0]).getByLabel('Reason').fill('enough');
  await send(page, wish(of.hosts[0]).getByRole('button', { name: 'Revoke' }));
  await wish(of.hosts[0]).getByText('REVOKED').waitFor();

  // It is saved as it is, and goes back to what was saved, after what would change was shown.
  await open(of.hosted);
  await send(page, button('Save it now'));
  await page.getByRole('link', { name: 'Go back…' }).last().click();
  await page.getByRole('heading', { name: 'What would change' }).waitFor();
  await page.getByLabel('Reason').fill('the first section is wrong');
  await send(page, button('Go back'));
  await is('ROLLED_BACK');
}

for (const [index, of] of given.of.entries()) {
  const page = await screen({ javaScriptEnabled: index === 0 });
  await enter(page, given.links[index]);
  await runs(page, of, async (name) => { if (index === 0) await lookEveryWay(page, name); }, index === 0);
  assert.deepEqual(page.complaints, []);
}
await finish();

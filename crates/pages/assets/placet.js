// What a page does beyond being read: keys, and staying up to date. Everything works without it.
'use strict';

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const isTyping = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');

// Where the way to other pages is wider than the screen, the page that is shown is in view there.
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

// ---- keys

const rows = () => all('a.row');

function move(by) {
  const list = rows();
  if (!list.length) return;
  const at = list.findIndex((row) => row === document.activeElement || row.hasAttribute('aria-current'));
  const next = list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + by))];
  next.focus();
  if (location.pathname === '/' && next.search.includes('action=')) next.click();
}

// The first key brings the button into view and focus, the second one presses it: nobody approves by a slip.
function approve() {
  const form = document.querySelector('form#approve');
  if (!form) return;
  const field = form.querySelector('input:not([type=hidden])');
  if (field && !field.value) return field.focus();
  const button = form.querySelector('button');
  if (document.activeElement === button) return form.requestSubmit();
  button.scrollIntoView({ block: 'center' });
  button.focus();
}

function reject() {
  const field = document.querySelector('form#reject input:not([type=hidden])');
  field?.scrollIntoView({ block: 'center' });
  field?.focus();
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  a: approve,
  r: reject,
  g: () => location.assign('/'),
  '?': () => location.assign('/help'),
};

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && isTyping()) return document.activeElement.blur();
  // A key that is held down is one stroke.
  if (event.repeat || isTyping() || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

// A decision is sent once, and the second half of a double click does not decide what came into its place.
const born = performance.now();
const isJustDecided = Date.now() - Number(sessionStorage.getItem('decided') ?? 0) < 2000;
document.addEventListener('submit', (event) => {
  const decides = event.target.closest('.decide') !== null;
  const isSlip = decides && isJustDecided && performance.now() - born < 500;
  if (isSlip || event.target.dataset.sent) return event.preventDefault();
  event.target.dataset.sent = 'yes';
  if (decides) sessionStorage.setItem('decided', String(Date.now()));
});
addEventListener('pageshow', () => all('form').forEach((form) => delete form.dataset.sent));

// ---- staying up to date: told that something happened, the page is asked for again, and the parts that differ are put in place

const policy = globalThis.trustedTypes?.createPolicy('placet', { createHTML: (text) => text });
const parse = (text) => new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html');

// What somebody is reading, writing in or has opened is left alone until they are done with it.
const isWritten = (field) => field.value !== field.defaultValue;
const isInUse = (part) => (part.contains(document.activeElement) && isTyping())
  || all('input:not([type=hidden]):not([type=checkbox]), textarea', part).some(isWritten);

function replace(part, fresh) {
  if (part.innerHTML === fresh.innerHTML || isInUse(part)) return;
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  const open = all('details', part).map((details) => details.open);
  part.replaceChildren(...fresh.childNodes);
  all('details', part).forEach((details, index) => { if (index in open) details.open = open[index]; });
  if (focused) all('a', part).find((link) => link.getAttribute('href') === focused)?.focus();
}

// A page that shows one moment looks elsewhere for what stands around it.
const elsewhere = document.body.dataset.liveFrom;

async function refresh() {
  const answer = await fetch(elsewhere ?? location.href, { headers: { accept: 'text/html' }, redirect: 'error' });
  if (!answer.ok) return;
  const fresh = parse(await answer.text());
  for (const part of all('[data-live]')) {
    const other = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
    if (other) replace(part, other);
  }
  if (elsewhere) return;
  document.title = fresh.title;
  tellIfOther(fresh);
}

// What is decided on is never exchanged under somebody's hand: that something else stands there now is told, with the way to it.
function tellIfOther(fresh) {
  const still = (within) => within.querySelector('[data-still]')?.dataset.still;
  if (still(document) === still(fresh) || document.querySelector('.other')) return;
  const notice = document.createElement('p');
  const link = document.createElement('a');
  notice.className = 'notice other';
  link.href = location.href;
  link.textContent = document.body.dataset.waits;
  notice.append(link);
  document.querySelector('main').prepend(notice);
}

let waiting = false;
let again = false;

// At most one look at a time, and not more than two a second, however much happens.
async function soon() {
  if (waiting) { again = true; return; }
  waiting = true;
  try { await refresh(); } catch { /* the stream says when it is back */ }
  await new Promise((resolve) => setTimeout(resolve, 500));
  waiting = false;
  if (again) { again = false; soon(); }
}

let lost = false;

function follow(of) {
  const sign = document.getElementById('live');
  const source = new EventSource(`/live?of=${encodeURIComponent(of)}`);
  source.onopen = () => {
    sign.hidden = false;
    sign.classList.remove('off');
    sign.removeAttribute('title');
    if (lost) soon();
    lost = false;
  };
  source.onerror = () => {
    lost = true;
    sign.classList.add('off');
    sign.title = document.body.dataset.offline;
  };
  source.addEventListener('news', soon);
  return source;
}

// Browsers open six connections to a place and no more: only pages that somebody sees take one. Who comes back gets what happened meanwhile.
let source = null;
function followWhileSeen() {
  if (document.hidden) {
    source?.close();
    [source, lost] = [null, true];
  } else {
    source ??= follow(document.body.dataset.liveOf);
  }
}
if (document.body.dataset.liveOf) {
  document.addEventListener('visibilitychange', followWhileSeen);
  followWhileSeen();
}

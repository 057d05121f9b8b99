// Passkeys: a form that needs one asks the server for a question, has the authenticator answer it, and is sent with the answer.
// What is decided stands in the form as ever; this adds what only a script can ask a browser for.
'use strict';

(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (sign) => sign.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  const known = (question) => question.credentials.map((id) => ({ type: 'public-key', id: bytes(id) }));

  // The form says what it shows, or what was made for it; the question is about exactly that.
  async function ask(form, address, about) {
    const url = new URL(address, location.href);
    for (const name of about) {
      const value = form.elements.namedItem(name)?.value;
      if (value) url.searchParams.set(name, value);
    }
    const answer = await fetch(url, { redirect: 'error' });
    if (!answer.ok) throw new Error('no question');
    return answer.json();
  }

  async function sign(question) {
    const { id, response } = await navigator.credentials.get({ publicKey: {
      challenge: bytes(question.challenge), rpId: question.rp_id, userVerification: 'required',
      allowCredentials: known(question), timeout: 120_000,
    } });
    return {
      credential: id, client_data: text(response.clientDataJSON), authenticator_data: text(response.authenticatorData),
      signature: text(response.signature), user: response.userHandle ? text(response.userHandle) : '',
    };
  }

  async function create(question) {
    const { response } = await navigator.credentials.create({ publicKey: {
      challenge: bytes(question.challenge), rp: { id: question.rp_id, name: 'Placet' }, attestation: 'none',
      user: { id: bytes(question.user), name: question.name, displayName: question.name },
      pubKeyCredParams: question.algorithms.map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: known(question), timeout: 120_000,
    } });
    return { made_client_data: text(response.clientDataJSON), made_attestation: text(response.attestationObject) };
  }

  const MADE = ['made_nonce', 'made_asked_at', 'made_client_data', 'made_attestation'];

  async function make(form) {
    const question = await ask(form, form.dataset.passkeyMakes, []);
    fill(form, { made_nonce: question.nonce, made_asked_at: question.asked_at, ...await create(question) });
  }

  function fill(form, values) {
    for (const [name, value] of Object.entries(values)) {
      const field = form.elements.namedItem(name);
      if (field) field.value = value;
    }
  }

  async function answer(form) {
    const told = form.querySelector('[role=alert]');
    told.textContent = '';
    try {
      if (form.dataset.passkeyMakes) await make(form);
      if (!form.dataset.passkeyFirst) {
        const question = await ask(form, form.dataset.passkey, form.dataset.passkeyMakes ? ['name', ...MADE] : ['seen']);
        fill(form, { nonce: question.nonce, asked_at: question.asked_at, ...await sign(question) });
      }
      form.submit();
    } catch {
      told.textContent = form.dataset.passkeyFailed;
      // Nothing was decided.
      delete form.dataset.sent;
      sessionStorage.removeItem('decided');
    }
  }

  // After the other script, which knows slips and double clicks.
  document.addEventListener('submit', (event) => {
    if (event.defaultPrevented || !event.target.dataset.passkey) return;
    event.preventDefault();
    answer(event.target);
  });
})();

// A real provider of OpenID Connect (oidc-provider) on this machine, which asks for nothing but a name. It says where it is and waits to be ended.
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { join } from 'node:path';

const require = createRequire(join(process.env.PLACET_BROWSER, 'package.json'));
const { default: Provider } = await import(require.resolve('oidc-provider'));

const given = JSON.parse(process.env.PLACET_GIVEN);
const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'placet', client_secret: given.secret, redirect_uris: [given.back], response_types: ['code'],
    grant_types: ['authorization_code'], token_endpoint_auth_method: 'client_secret_basic',
    id_token_signed_response_alg: given.alg, application_type: 'native',
  }],
  pkce: { required: () => true },
  conformIdTokenClaims: false,
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  findAccount: (context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: true }),
  }),
  features: { devInteractions: { enabled: true } },
});
// Whatever goes wrong there is told here.
provider.on('server_error', (context, error) => console.error(error));
server.on('request', provider.callback());
console.log(issuer);

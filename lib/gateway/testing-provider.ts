import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Configuration, Provider } from 'oidc-provider'

/** An OpenID Connect provider on another site than 127.0.0.1, where a visitor may pick any user. */
export interface TestProvider {
  issuer: string
  close: () => Promise<void>
}

const client = { id: 'devdeck', secret: 'a secret of the console' }

export const signInAtProvider = ({ issuer }: TestProvider) => ({
  issuer,
  clientId: client.id,
  clientSecret: client.secret,
  scope: 'openid profile email groups',
})

/** Its page offers a choice of users and a cancel button. */
export const startProvider = async (
  people: Record<string, Record<string, unknown>>,
  { callbacks }: { callbacks: string[] },
): Promise<TestProvider> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  const settings: Configuration = {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: callbacks,
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/who/${uid}` },
    cookies: { keys: ['a key of the provider'] },
    ttl: { Session: 60, Interaction: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({ clientId: client.id, accountId: context.oidc.session?.accountId })
      grant.addOIDCScope('openid profile email groups')
      await grant.save()
      return grant
    },
  }
  const provider = new Provider(issuer, settings)
  const answer = provider.callback()
  server.on('request', async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
    if (!pathname.startsWith('/who/')) return answer(request, response)
    const who = searchParams.get('as')
    if (searchParams.has('cancel'))
      return provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'cancelled' })
    if (who !== null) return provider.interactionFinished(request, response, { login: { accountId: who } })
    const links = [...Object.keys(people).map((each) => [`as=${each}`, each]), ['cancel', 'Cancel']]
    const list = links.map(([query, text]) => `<li><a href="${pathname}?${query}">${text}</a></li>`).join('')
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Who are you?</title><ul>${list}</ul>`)
  })
  return {
    issuer,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signInAtProvider, startProvider } from '#lib/gateway/testing-provider.ts'
import { freePort } from '#lib/service/testing/free-port.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { type Product, startProduct } from './product.ts'

/** A console with OpenID Connect sign-in, in front of its own service. */
export interface SignOnProduct {
  service: TestService
  front: Product
  stop(): Promise<void>
}

/** `accounts`: the content of DEVDECK_OIDC_ACCOUNTS, given the service's key. */
export const startSignOnProduct = async (
  people: Record<string, Record<string, unknown>>,
  accounts: (serviceKey: string) => unknown,
  environment: Record<string, string> = {},
): Promise<SignOnProduct> => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-sign-on-'))
  const service = await startService()
  const port = await freePort()
  const provider = await startProvider(people, { callbacks: [`http://127.0.0.1:${port}/sign-in/sso/callback`] })
  const file = join(folder, 'accounts.json')
  writeFileSync(file, JSON.stringify(accounts(service.key)))
  chmodSync(file, 0o600)
  const { issuer, clientId, clientSecret, scope } = signInAtProvider(provider)
  const front = await startProduct({
    PORT: String(port),
    DEVDECK_SERVICE_URL: service.url,
    DEVDECK_OIDC_ISSUER: issuer,
    DEVDECK_OIDC_CLIENT_ID: clientId,
    DEVDECK_OIDC_CLIENT_SECRET: clientSecret,
    DEVDECK_OIDC_SCOPE: scope,
    DEVDECK_OIDC_ACCOUNTS: file,
    ...environment,
  })
  return {
    service,
    front,
    stop: async () => {
      await front.stop()
      await provider.close()
      await service.close()
      rmSync(folder, { recursive: true })
    },
  }
}

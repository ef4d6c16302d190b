import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Deps } from './deps.ts'
import { onlyAccount } from './domain/accounts.ts'
import { createAddressGate } from './http/address-gate.ts'
import { createAuthenticate } from './http/auth.ts'
import type { Route } from './http/implement.ts'
import type { ListenerContext } from './http/listener.ts'
import { Revocations } from './http/revocations.ts'
import { createRouter } from './http/router.ts'
import { ServiceError } from './kit/errors.ts'
import { logError } from './kit/log.ts'
import type { ServiceBase } from './parts.ts'
import { isTerminalAddress, terminalSchemes } from './routes/terminal-credentials.ts'
import { createTunnelHosts, createTunnelProxy } from './routes/tunnel-proxy.ts'
import { readOrCreateApiKey } from './store/data-dir.ts'
import { createKeyStore, digestOf } from './store/keys.ts'

type Access = ReturnType<typeof readAccess>

/** The keys that open the service. Throws a StartError where keys of two accounts would share plain processes. */
export const readAccess = ({ config, dataDir, database, engine }: ServiceBase) => {
  const keys = config.keys ?? [{ account: 'local', key: readOrCreateApiKey(dataDir) }]
  const keyStore = createKeyStore(database)
  const taken = [...keys, ...keyStore.all().filter(({ revoke_time_ms }) => revoke_time_ms === null)]
  return {
    keys,
    keyStore,
    /** The one account whose keys are taken; undefined: any account's. */
    only:
      config.oneAccountUnlessIsolated && engine.isolation === 'none'
        ? onlyAccount(taken.map(({ account }) => account))
        : undefined,
    operatorToken: randomBytes(32).toString('base64url'),
  }
}

/** What decides about a request before its route does: its address, its credential, and whether it is for a tunnel. */
export const createListenerContext = (
  { config, dataDir, stopping, onClose }: ServiceBase,
  { keys, keyStore, only, operatorToken }: Access,
  { tunnels, ptyTokens }: Deps,
  routes: readonly Route[],
): ListenerContext => {
  const revocations = new Revocations(keyStore)
  onClose(() => revocations.close())
  const ownKeys = new Set([...keys.map(({ key }) => key), operatorToken].map((key) => digestOf(key).toString('hex')))
  const tunnelHostOf = createTunnelHosts(config.host, config.allowHosts)
  return {
    otherHosts: createTunnelProxy({
      tunnels,
      hostOf: (request) => {
        const host = tunnelHostOf(request)
        return host && !ptyTokens.isTunnel(host.key) ? host : undefined
      },
      isOwnKey: (token) => {
        const digest = digestOf(token)
        return ownKeys.has(digest.toString('hex')) || keyStore.find(digest) !== undefined || !!ptyTokens.find(token)
      },
      log: logError,
    }),
    router: createRouter(routes),
    authenticate: createAuthenticate(keys, {
      find: (digest) => {
        const found = keyStore.find(digest)
        if (found && only !== undefined && found.account !== only)
          throw new ServiceError('forbidden', `Devboxes are plain processes here: only keys of ${only} are taken`)
        return found && { account: found.account, revoked: revocations.signalOf(found.id) }
      },
      operatorToken,
      schemes: terminalSchemes(ptyTokens),
    }),
    checkAddress: createAddressGate(config.host, config.allowHosts, (request) =>
      isTerminalAddress(request, tunnelHostOf(request), ptyTokens),
    ),
    spoolFolder: join(dataDir.path, 'spool'),
    validateAnswers: config.validateAnswers,
    stopping,
    log: logError,
  }
}

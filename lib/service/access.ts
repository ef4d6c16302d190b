import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { AuditLog } from './audit/audit-log.ts'
import { createAuthenticate } from './http/auth.ts'
import { createHostCheck } from './http/host-check.ts'
import type { Route } from './http/implement.ts'
import type { ListenerContext } from './http/listener.ts'
import { createRouter } from './http/router.ts'
import { ServiceError, StartError } from './kit/errors.ts'
import { logError } from './kit/log.ts'
import { objectSchemes } from './objects/links.ts'
import type { Deps, ServiceBase } from './parts.ts'
import { isTerminalAddress, terminalSchemes } from './routes/terminal-credentials.ts'
import { createTunnelHosts, createTunnelProxy } from './routes/tunnel-proxy.ts'
import { type DataDir, readOrCreateApiKey } from './store/data-dir.ts'
import { digestOf, type KeyStore, type ValidKey } from './store/keys.ts'

export const readAccess = ({ config, dataDir, store, engines }: ServiceBase) => {
  const keys = config.keys ?? [{ account: 'local', key: readOrCreateApiKey(dataDir) }]
  const keyStore = store.keys
  const validKeys = [...keys, ...keyStore.all().filter(({ revoke_time_ms }) => revoke_time_ms === null)]
  return {
    keys,
    keyStore,
    /** If set, only this account's keys are accepted. */
    only:
      config.oneAccountUnlessIsolated && engines.isolation === 'none'
        ? onlyAccount(validKeys.map(({ account }) => account))
        : undefined,
    operatorToken: randomBytes(32).toString('base64url'),
  }
}

/** Plain processes are not isolated from each other, so they may belong to one account only. Throws a StartError. */
const onlyAccount = (accounts: Iterable<string>): string => {
  const [first = 'local', ...others] = new Set(accounts)
  if (others.length > 0)
    throw new StartError(
      `Devboxes are plain processes without isolation, but there are keys of ${others.length + 1} accounts (${[first, ...others].join(', ')}). Install bubblewrap and omit --isolation none, or keep the keys of only one account (DEVDECK_API_KEYS, keys list, keys revoke)`,
    )
  return first
}

export const createListenerContext = (
  { config, dataDir, database, store, stopping, onClose }: ServiceBase,
  { keys, keyStore, only, operatorToken }: ReturnType<typeof readAccess>,
  { tunnels, ptyTokens, plannedStop }: Deps,
  routes: readonly Route[],
): ListenerContext => {
  const revokedSignalOf = watchRevocations(keyStore, onClose)
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
          throw new ServiceError('forbidden', `Devboxes are not isolated; only keys of account ${only} are accepted`)
        if (!found) return undefined
        const { id, account, scopes } = found
        return { account, keyId: id, revoked: revokedSignalOf(found), ...(scopes && { scopes }) }
      },
      operatorToken,
      schemes: new Map([...terminalSchemes(ptyTokens), ...objectSchemes(store.objects, Date.now)]),
    }),
    checkHost: createHostCheck(config.host, config.allowHosts, (request) =>
      isTerminalAddress(request, tunnelHostOf(request), ptyTokens),
    ),
    requireAccepted: (endpointId) => plannedStop.require(endpointId),
    spoolFolder: join(dataDir.path, 'spool'),
    validateResponses: config.validateResponses,
    stopping,
    synced: () => database.synced(),
    audit: openAudit(dataDir, keyStore, onClose),
    log: logError,
  }
}

const openAudit = (dataDir: DataDir, keys: KeyStore, onClose: ServiceBase['onClose']): ListenerContext['audit'] => {
  const log = new AuditLog(dataDir.path)
  onClose(() => log.close())
  return ({ account, keyId, ...rest }) =>
    log.record({
      account,
      key_id: keyId ?? null,
      key_name: keyId === undefined ? (account === '' ? 'operator' : null) : keys.nameOf(keyId),
      ...rest,
    })
}

/** Returns a signal per key that aborts within a second after the key expires or is revoked. */
const watchRevocations = (store: KeyStore, onClose: ServiceBase['onClose']) => {
  const inUse = new Map<string, { controller: AbortController; expiresAtMs: number }>()
  let known = store.dataVersion()
  const check = () => {
    const now = store.dataVersion()
    const isChanged = now !== known
    known = now
    for (const [id, { controller, expiresAtMs }] of inUse) {
      const isExpired = expiresAtMs <= Date.now()
      if (!isExpired && (!isChanged || store.isValid(id))) continue
      inUse.delete(id)
      controller.abort(new ServiceError('unauthenticated', isExpired ? 'The key has expired' : 'The key was revoked'))
    }
  }
  const timer = setInterval(check, 1_000).unref()
  onClose(() => clearInterval(timer))
  return ({ id, expires_at_ms }: ValidKey): AbortSignal => {
    const { controller } = inUse.get(id) ?? { controller: new AbortController() }
    inUse.set(id, { controller, expiresAtMs: expires_at_ms ?? Number.POSITIVE_INFINITY })
    return controller.signal
  }
}

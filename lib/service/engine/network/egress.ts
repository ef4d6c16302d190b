import { fileURLToPath } from 'node:url'
import { spawnIn } from '../engine.ts'
import type { Order, Word } from './egress-proxy.ts'
import type { Ground, Outbound } from './ground.ts'
import { keptUp } from './kept-up.ts'
import type { Rules } from './rules.ts'

/** On the devbox's own loopback, at every start of it: shells that are restored know the address already. */
const port = 31_280
const maxTold = 1000
const listenInside = fileURLToPath(new URL('./listen-inside.ts', import.meta.url))
const egressProxy = fileURLToPath(new URL('./egress-proxy.ts', import.meta.url))

/**
 * Lets a devbox call out through an HTTP proxy and in no other way. Each name that is refused is told once. Throws when
 * the proxy does not start.
 */
export const startEgress = async (
  ground: Ground,
  rules: Rules,
  tell: (sentence: string) => void,
): Promise<Outbound> => {
  const { file, args } = ground.onNetwork([process.execPath, listenInside, String(port)])
  const told = new Set<string>()
  const start = async () => {
    const child = spawnIn(ground.outside([process.execPath, egressProxy]), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    })
    child.once('error', () => undefined)
    const listening = new Promise<void>((resolve, reject) => {
      child.on('message', (word: Word) => {
        if ('listening' in word) return resolve()
        if (told.has(word.refused) || told.size >= maxTold) return
        told.add(word.refused)
        tell(`Refused: ${word.refused}`)
      })
      child.once('exit', () => reject(new Error('The proxy for its network ended')))
    })
    child.send({ listen: { file, args }, rules } satisfies Order, () => undefined)
    await listening
    ground.spare(child.pid ?? 0)
    return child
  }
  const { end } = await keptUp(start, () => tell('Its network is lost: the proxy could not be started again'))
  return { environment: proxyVariables(`http://127.0.0.1:${port}`), end }
}

/** As npm, pip, git, curl, Node and most others read them; what runs in the devbox itself is not asked of the proxy. */
const proxyVariables = (url: string): Record<string, string> => ({
  ...Object.fromEntries(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => both(name, url))),
  ...Object.fromEntries(both('NO_PROXY', 'localhost,127.0.0.1,::1')),
  npm_config_proxy: url,
  npm_config_https_proxy: url,
  NODE_USE_ENV_PROXY: '1',
})

const both = (name: string, value: string) => [
  [name, value],
  [name.toLowerCase(), value],
]

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ifMissing } from '#lib/service/kit/errors.ts'
import type { EngineVariables } from '../container/engine-address.ts'
import type { RegistryAuth } from '../container/engine-api.ts'

interface DockerConfig {
  auths?: Record<string, { auth?: string; identitytoken?: string }>
}

/** What `docker login` stored for a registry. Programs that store credentials elsewhere are not run. */
export const readCredentials = async (
  host: string,
  { DOCKER_CONFIG, HOME = '/' }: EngineVariables,
): Promise<RegistryAuth | undefined> => {
  const file = join(DOCKER_CONFIG || join(HOME, '.docker'), 'config.json')
  const text = await readFile(file, 'utf8').catch(ifMissing)
  const { auths = {} } = JSON.parse(text ?? '{}') as DockerConfig
  for (const [address, { auth = '', identitytoken }] of Object.entries(auths)) {
    if (address.replace(/^https?:\/\//, '').split('/')[0] !== host) continue
    const plain = Buffer.from(auth, 'base64').toString('utf8')
    const cut = plain.indexOf(':')
    if (identitytoken) return { identitytoken, serveraddress: host }
    if (cut > 0) return { username: plain.slice(0, cut), password: plain.slice(cut + 1), serveraddress: host }
  }
  return undefined
}

/** The registry of an image's name, as Docker parses it. */
export const registryOf = (image: string): string => {
  const [first = '', ...rest] = image.split('/')
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : 'index.docker.io'
}

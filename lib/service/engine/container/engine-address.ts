import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DockerOptions } from 'dockerode'
import { StartError } from '#lib/service/kit/errors.ts'
import { ownAddresses } from '../network/rules.ts'

/** Variables that choose an engine, as for the docker command. */
export interface EngineVariables {
  DOCKER_HOST?: string | undefined
  DOCKER_TLS_VERIFY?: string | undefined
  DOCKER_CERT_PATH?: string | undefined
  DOCKER_CONFIG?: string | undefined
  SSH_AUTH_SOCK?: string | undefined
  HOME?: string | undefined
}

export interface EngineAddress {
  url: string
  /** Whether the engine runs on this host. */
  isLocal: boolean
  options: DockerOptions
}

/** Parses `unix://`, `tcp://`, `http://`, `https://` and `ssh://`. Throws a StartError. */
export const parseEngineAddress = (url: string, variables: EngineVariables): EngineAddress => {
  const path = /^unix:\/\/(\/.*)$/.exec(url)?.[1]
  if (path !== undefined) return { url, isLocal: true, options: { ...nothing, socketPath: path } }
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !['tcp:', 'http:', 'https:', 'ssh:'].includes(parsed.protocol) || parsed.hostname === '')
    throw new StartError(`--engine ${url} must be unix:///PATH, tcp://HOST:PORT, ssh://USER@HOST or none`)
  const host = parsed.hostname.replace(/^\[|\]$/g, '')
  if (parsed.protocol === 'ssh:') {
    const sshOptions = { agent: variables.SSH_AUTH_SOCK }
    const port = parsed.port || '22'
    const options = { ...nothing, protocol: 'ssh', host, port, username: parsed.username, sshOptions } as const
    return { url, isLocal: false, options }
  }
  const isSecure = parsed.protocol === 'https:' || Boolean(variables.DOCKER_TLS_VERIFY)
  const port = parsed.port || (isSecure ? '2376' : '2375')
  const options = { ...nothing, host, port, pathPrefix: '/' } as const
  const isLocal = host === 'localhost' || ownAddresses().includes(host)
  if (!isSecure) return { url, isLocal, options: { ...options, protocol: 'http' } }
  return { url, isLocal, options: { ...options, protocol: 'https', ...certificates(url, variables) } }
}

const certificates = (url: string, { DOCKER_CERT_PATH, HOME = '/' }: EngineVariables) => {
  const folder = DOCKER_CERT_PATH || join(HOME, '.docker')
  const read = (name: string) => {
    try {
      return readFileSync(join(folder, name))
    } catch (error) {
      throw new StartError(`--engine ${url} requires TLS certificates: ${(error as Error).message}`)
    }
  }
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') }
}

// docker-modem takes every option that isn't set here from DOCKER_HOST.
const nothing = {
  host: undefined,
  port: undefined,
  socketPath: undefined,
  protocol: 'http',
  ca: undefined,
  cert: undefined,
  key: undefined,
} as unknown as { protocol: 'http' }

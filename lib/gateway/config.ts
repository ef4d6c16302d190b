import { randomBytes } from 'node:crypto'
import { accessSync, chmodSync, constants, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { join, resolve } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import * as z from 'zod/mini'
import { ReceiverFile } from './alerts/delivery/receiver-fields.ts'
import { makeDataFolder } from './data-folder.ts'
import { readRoleRules } from './people/role-rules.ts'
import { readText } from './read-text.ts'

export type Config = ReturnType<typeof readConfig>

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: string[]

  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

const minSecretLength = 32
/** 32 random hexadecimal digits deflate to at least 30 bytes. */
const minDeflatedSecretLength = 26
const loopbackHosts = ['127.0.0.1', 'localhost', '::1']

const text = (fallback: string) =>
  z.pipe(
    z.transform((value: unknown) => (value === undefined || value === '' ? fallback : value)),
    z.string(),
  )
const serviceUrlMessage = 'must be an http:// or https:// address without credentials, query or fragment'
const issuerMessage = 'must be an https:// address without credentials, query or fragment; http:// on this machine only'
const webhookMessage = 'must be an http:// or https:// address without credentials'
const optionalUrl = (isRight: (url: string) => boolean, message: string) =>
  z.pipe(text(''), z.string().check(z.refine((url) => url === '' || isRight(url), message)))
const list = z.pipe(
  text(''),
  z.transform((value: string) =>
    value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  ),
)

const portMessage = 'must be a port number from 0 to 65535'
const isPort = (value: string) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535
const Environment = z.object({
  PORT: z.pipe(text('3000').check(z.refine(isPort, portMessage)), z.transform(Number)),
  HOST: text('127.0.0.1').check(z.regex(/^[A-Za-z0-9.:-]+$/, 'must be a host name or an IP address, without a port')),
  DEVDECK_SERVICE_URL: optionalUrl((url) => isServiceUrl(url), serviceUrlMessage),
  DEVDECK_SERVICE_ID: text('').check(z.regex(/^[\x21-\x7e]{0,200}$/, 'must be printable characters without spaces')),
  DEVDECK_SERVICE_PORT: z.pipe(
    text('').check(z.refine((value) => value === '' || isPort(value), portMessage)),
    z.transform((value) => (value === '' ? undefined : Number(value))),
  ),
  DEVDECK_MAX_STORAGE: text('').check(
    z.regex(/^(\d{1,15}(\.\d{1,3})?[KMGTP]?)?$/, 'must be a size such as 512M or 20G, or 0 for no limit'),
  ),
  DEVDECK_ENGINE: text('').check(z.regex(/^(none|swarm|[a-z]+:\/\/\S+)?$/, 'must be a URL, swarm or none')),
  DEVDECK_ENGINE_URL: text('').check(z.regex(/^([a-z]+:\/\/\S+)?$/, 'must be a URL')),
  DEVDECK_ENGINE_NODE_URL: text('').check(z.regex(/^([a-z]+:\/\/\S+)?$/, 'must be a URL')),
  DEVDECK_ENGINE_REGISTRY: text('').check(z.regex(/^([\w.:[\]-]+(\/[\w./-]+)?)?$/, 'must be HOST[:PORT][/PREFIX]')),
  DEVDECK_PLACEMENT: list,
  DEVDECK_IMAGE: text('').check(z.regex(/^[\w./:@-]{0,255}$/, 'must be the name of an image')),
  DEVDECK_DATA_DIR: text('.devdeck'),
  DEVDECK_STORE: text('').check(z.regex(/^(postgres(ql)?:\/\/\S+)?$/, 'must be a postgres:// address or empty')),
  DEVDECK_PEER_URL: optionalUrl((url) => isServiceUrl(url), serviceUrlMessage),
  DEVDECK_SESSION_SECRET: list.check(
    z.refine(
      (secrets: string[]) => secrets.every((each) => each.length >= minSecretLength),
      `must have at least ${minSecretLength} characters each`,
    ),
    z.refine(
      (secrets: string[]) => secrets.every((each) => each.length < minSecretLength || isRandom(each)),
      'must be random; generate one with: openssl rand -base64 32',
    ),
  ),
  DEVDECK_WEBHOOK_URL: optionalUrl((url) => httpUrl(url) !== null, webhookMessage),
  DEVDECK_WEBHOOK_SECRET: text(''),
  DEVDECK_WEBHOOK_API_KEY: text(''),
  DEVDECK_RECEIVERS: text(''),
  DEVDECK_RECEIVERS_ON_PAGE: text('').check(z.regex(/^(accounts)?$/, 'must be accounts or empty')),
  DEVDECK_PRIVATE_RECEIVERS: text('').check(z.regex(/^[01]?$/, 'must be 0 or 1')),
  DEVDECK_SHARES: text('').check(z.regex(/^(on|off)?$/, 'must be on or off')),
  DEVDECK_OIDC_ISSUER: optionalUrl((url) => isIssuer(url), issuerMessage),
  DEVDECK_OIDC_CLIENT_ID: text(''),
  DEVDECK_OIDC_CLIENT_SECRET: text(''),
  DEVDECK_OIDC_SCOPE: text('openid profile email').check(
    z.refine((scope: string) => scope.split(' ').includes('openid'), 'must include openid'),
  ),
  DEVDECK_OIDC_ACCOUNTS: text(''),
  DEVDECK_ROLES: text(''),
  DEVDECK_SIGN_IN: text('').check(z.regex(/^(sso)?$/, 'must be sso or empty')),
  TRUST_PROXY: list.check(
    z.refine(
      (proxies: string[]) => trustOf(proxies) !== undefined,
      'must be a number of proxies or their addresses and networks, such as 1 or 10.0.0.0/8,::1',
    ),
  ),
  DEVDECK_LOG: text('text').check(z.regex(/^(text|json)$/, 'must be text or json')),
  DEVDECK_LOG_REQUESTS: text('').check(z.regex(/^[01]?$/, 'must be 0 or 1')),
  DEVDECK_METRICS_PORT: text('').check(z.refine((value) => value === '' || isPort(value), portMessage)),
  DEVDECK_METRICS_HOST: text('127.0.0.1').check(z.regex(/^[A-Za-z0-9.:-]+$/, 'must be a host name or an IP address')),
  DEVDECK_SERVICE_ARGS: text('').check(
    z.refine((value) => splitArguments(value) !== undefined, 'has a quote that is not closed'),
    z.refine(
      (value) => !splitArguments(value)?.some((word) => /^--data-dir(=|$)/.test(word)),
      'must not contain --data-dir; set DEVDECK_DATA_DIR instead',
    ),
  ),
  DEVDECK_BODY_STILL_SECONDS: z.pipe(
    text('30').check(z.regex(/^[1-9]\d{0,3}$/, 'must be a number of seconds from 1 to 9999')),
    z.transform(Number),
  ),
  DEVDECK_PUSH_SERVICES: list.check(
    z.refine(
      (origins: string[]) => origins.every(isOrigin),
      'must be one or more origins such as https://push.example.com',
    ),
  ),
  DEVDECK_ORIGIN: list.check(
    z.refine(
      (origins: string[]) => origins.every(isOrigin),
      'must be one or more origins such as https://console.example.com, without a path',
    ),
  ),
})

/** Removed from the environment at startup. Webhook URLs may contain a secret. */
export const secretVariables = [
  'DEVDECK_SESSION_SECRET',
  'DEVDECK_STORE',
  'DEVDECK_OIDC_CLIENT_SECRET',
  'DEVDECK_WEBHOOK_URL',
  'DEVDECK_WEBHOOK_SECRET',
  'DEVDECK_WEBHOOK_API_KEY',
] as const

/** Also creates the data folder and, if none is given, a session secret in it. */
export const readConfig = (environment: Record<string, string | undefined> = process.env) => {
  const parsed = Environment.safeParse(pick(environment))
  const problems = parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  const host = environment.HOST || '127.0.0.1'
  if (!loopbackHosts.includes(host) && !environment.DEVDECK_ORIGIN)
    problems.push(
      `HOST ${host} is reachable from other machines. Set DEVDECK_ORIGIN to the origin people open (https://…); the console rejects all others.`,
    )
  if (environment.DEVDECK_BASE_PATH)
    problems.push(
      'DEVDECK_BASE_PATH is not supported: the console needs its own host name, such as devdeck.example.com',
    )
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems)
  for (const name of unknownVariables(environment))
    console.error(`${name} is not a setting of the console and has no effect. .env.example lists all settings`)

  const { PORT, HOST, DEVDECK_SERVICE_URL, DEVDECK_DATA_DIR, DEVDECK_SESSION_SECRET, DEVDECK_ORIGIN } = parsed.data
  const { DEVDECK_WEBHOOK_URL: url, DEVDECK_WEBHOOK_SECRET, DEVDECK_WEBHOOK_API_KEY } = parsed.data
  const dataDir = resolve(DEVDECK_DATA_DIR)
  if (DEVDECK_SERVICE_URL === '' || DEVDECK_SESSION_SECRET.length === 0) claimDataDir(dataDir)
  else if (existsSync(dataDir)) closeDataDir(dataDir)
  const [first = ownSecret(dataDir), ...more] = DEVDECK_SESSION_SECRET
  const sessionSecrets: [string, ...string[]] = [first, ...more]
  return {
    /** 0 picks a free port. */
    port: PORT,
    host: HOST,
    /** Undefined: the console runs the local service. */
    serviceUrl: DEVDECK_SERVICE_URL === '' ? undefined : DEVDECK_SERVICE_URL.replace(/\/+$/, ''),
    /** Stands for the service in stored data and sessions. Undefined: its address, or `embedded`. */
    serviceId: parsed.data.DEVDECK_SERVICE_ID || undefined,
    /** Port of the local service: undefined reuses the last one, 0 picks a free one. */
    servicePort: parsed.data.DEVDECK_SERVICE_PORT,
    serviceFlags: serviceFlags(parsed.data),
    dataDir,
    store: storeOf(parsed.data),
    /** The first seals new sessions; all of them open existing ones. */
    sessionSecrets,
    publicOrigins: DEVDECK_ORIGIN.map((origin) => new URL(origin).origin),
    webhook:
      url === ''
        ? undefined
        : { url, secret: DEVDECK_WEBHOOK_SECRET || undefined, apiKey: DEVDECK_WEBHOOK_API_KEY || undefined },
    receivers: {
      inFile: readReceivers(parsed.data.DEVDECK_RECEIVERS, DEVDECK_SERVICE_URL === ''),
      /** Whether every account may add receivers on the page, or only an operator. */
      areForAccounts: parsed.data.DEVDECK_RECEIVERS_ON_PAGE === 'accounts',
      /** Whether those may have private addresses. */
      arePrivateAllowed: parsed.data.DEVDECK_PRIVATE_RECEIVERS === '1',
    },
    /** Origins of push services besides the well-known ones, which may be private. */
    pushServices: parsed.data.DEVDECK_PUSH_SERVICES.map((service) => new URL(service).origin),
    /** Unspecified: how long a terminal without viewers stays connected to its shell. */
    terminalGraceMs: 10 * 60_000,
    /** Whether people may share reports by links that need no account. */
    areSharesEnabled: parsed.data.DEVDECK_SHARES !== 'off',
    signOn: signOnOf(parsed.data),
    roles: rolesOf(parsed.data),
    /** Whether people sign in through the provider only, never with an API key. */
    isSignOnOnly: isSignOnOnly(parsed.data),
    logFormat: parsed.data.DEVDECK_LOG as 'text' | 'json',
    logRequests: parsed.data.DEVDECK_LOG_REQUESTS === '1',
    metrics:
      parsed.data.DEVDECK_METRICS_PORT === ''
        ? undefined
        : { host: parsed.data.DEVDECK_METRICS_HOST, port: Number(parsed.data.DEVDECK_METRICS_PORT) },
    /** Whether to trust this address's X-Forwarded-For; `hop` counts the proxies trusted so far. */
    isTrustedProxy: trustOf(parsed.data.TRUST_PROXY) ?? trustNobody,
    /** How long a request body may stall. */
    bodyStillMs: parsed.data.DEVDECK_BODY_STILL_SECONDS * 1000,
  }
}

/** A misspelled setting, such as DEVDECK_ROLE, would otherwise go unnoticed. */
const unknownVariables = (environment: Record<string, string | undefined>): string[] =>
  Object.keys(environment).filter(
    (name) => name.startsWith('DEVDECK_') && !Object.hasOwn(Environment.shape, name) && !isSetElsewhere.test(name),
  )

/** For commands of the service, and in shells of devboxes. */
const isSetElsewhere = /^DEVDECK_(API_KEYS?|KEY|BASE_PATH|COPIES|DEVBOX_\w+|LAUNCH|SHELL_INTEGRATION)$/

/** The store that several consoles share, and where the others reach this one. */
const storeOf = (environment: z.output<typeof Environment>) => {
  const { DEVDECK_STORE: url, DEVDECK_PEER_URL: peerUrl, DEVDECK_SERVICE_URL, DEVDECK_ORIGIN } = environment
  if (url === '') return undefined
  if (peerUrl === '' || DEVDECK_SERVICE_URL === '' || DEVDECK_ORIGIN.length === 0)
    throw new ConfigError([
      'DEVDECK_STORE requires DEVDECK_PEER_URL (where the other consoles reach this one), DEVDECK_SERVICE_URL and DEVDECK_ORIGIN',
    ])
  return {
    url,
    peerUrl: peerUrl.replace(/\/+$/, ''),
    /** Without one of its own, a console takes the secret that the store has. */
    hasOwnSecret: environment.DEVDECK_SESSION_SECRET.length > 0,
  }
}

const serviceFlags = (environment: z.output<typeof Environment>): string[] => [
  ...Object.entries({
    '--max-storage': environment.DEVDECK_MAX_STORAGE,
    '--engine': environment.DEVDECK_ENGINE,
    '--engine-url': environment.DEVDECK_ENGINE_URL,
    '--engine-node-url': environment.DEVDECK_ENGINE_NODE_URL,
    '--engine-registry': environment.DEVDECK_ENGINE_REGISTRY,
    '--image': environment.DEVDECK_IMAGE,
  }).flatMap(([flag, value]) => (value === '' ? [] : [flag, value])),
  ...environment.DEVDECK_PLACEMENT.flatMap((constraint) => ['--placement', constraint]),
  ...(splitArguments(environment.DEVDECK_SERVICE_ARGS) ?? []),
]

/** Splits at spaces outside of quotes; undefined if a quote isn't closed. */
function splitArguments(text: string): string[] | undefined {
  const quoted = /'([^']*)'|"([^"]*)"/g
  if (/['"]/.test(text.replaceAll(quoted, ''))) return undefined
  return [...text.matchAll(/(?:'[^']*'|"[^"]*"|\S)+/g)].map(([word]) => word.replaceAll(quoted, '$1$2'))
}

/** Maps people to an API key: those whose `claim` equals or contains `value`. */
export type SignOnRule = z.output<typeof Rules>[number]

const Rules = z
  .array(
    z.strictObject({
      claim: z.string().check(z.minLength(1)),
      value: z.string().check(z.minLength(1)),
      api_key: z
        .string()
        .check(z.regex(/^[\x21-\x7e]{1,512}$/, 'must be 1 to 512 printable characters without spaces')),
    }),
  )
  .check(z.minLength(1))

const signOnOf = (environment: z.output<typeof Environment>) => {
  const { DEVDECK_OIDC_ISSUER: issuer, DEVDECK_OIDC_CLIENT_ID: clientId, DEVDECK_OIDC_ACCOUNTS: file } = environment
  if (issuer === '') return undefined
  if (clientId === '' || file === '')
    throw new ConfigError([
      'DEVDECK_OIDC_ISSUER requires DEVDECK_OIDC_CLIENT_ID and DEVDECK_OIDC_ACCOUNTS, a JSON file that maps people to accounts',
    ])
  return {
    issuer,
    clientId,
    clientSecret: environment.DEVDECK_OIDC_CLIENT_SECRET || undefined,
    scope: environment.DEVDECK_OIDC_SCOPE,
    rules: readRules(file),
  }
}

const rolesOf = ({ DEVDECK_ROLES: file, DEVDECK_OIDC_ISSUER }: z.output<typeof Environment>) => {
  if (file === '') return undefined
  if (DEVDECK_OIDC_ISSUER === '')
    throw new ConfigError(['DEVDECK_ROLES requires DEVDECK_OIDC_ISSUER: roles come from the groups of the provider'])
  try {
    return { file, rules: readRoleRules(file) }
  } catch (error) {
    throw new ConfigError([`DEVDECK_ROLES ${file} ${(error as Error).message}`])
  }
}

const isSignOnOnly = ({ DEVDECK_SIGN_IN, DEVDECK_OIDC_ISSUER }: z.output<typeof Environment>): boolean => {
  if (DEVDECK_SIGN_IN === 'sso' && DEVDECK_OIDC_ISSUER === '')
    throw new ConfigError(['DEVDECK_SIGN_IN=sso requires DEVDECK_OIDC_ISSUER'])
  return DEVDECK_SIGN_IN === 'sso'
}

const readRules = (file: string): SignOnRule[] =>
  readSecretFile('DEVDECK_OIDC_ACCOUNTS', file, Rules, '[{"claim": "groups", "value": "team", "api_key": "…"}]')

const readReceivers = (file: string, hasOwnService: boolean) => {
  if (file === '') return []
  const shape = '[{"name": "On-call", "format": "slack", "url": "https://…"}]'
  const receivers = readSecretFile('DEVDECK_RECEIVERS', file, ReceiverFile, shape)
  const withoutKey = receivers.find(({ api_key }) => api_key === undefined)
  if (withoutKey && !hasOwnService)
    throw new ConfigError([
      `DEVDECK_RECEIVERS ${file}: ${withoutKey.name} needs the api_key of the account whose alerts it gets`,
    ])
  return receivers
}

/** Reads a JSON file that only its owner can read. */
const readSecretFile = <Schema extends z.ZodMiniType>(
  variable: string,
  file: string,
  schema: Schema,
  shape: string,
): z.output<Schema> => {
  const refuse = (why: string) => new ConfigError([`${variable} ${file} ${why}`])
  let content: unknown
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw refuse('contains secrets but is readable by other users; run chmod 600')
    content = JSON.parse(readText(file))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    // The parser's message quotes the file, which contains secrets.
    if (error instanceof SyntaxError) throw refuse('is not valid JSON')
    throw refuse(`cannot be read: ${(error as Error).message}`)
  }
  const parsed = schema.safeParse(content)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim())
  throw refuse(`must be a list like ${shape}: ${problems.join('; ')}`)
}

type IsTrusted = (address: string, hop: number) => boolean
const trustNobody: IsTrusted = () => false

/** Undefined if it is neither a number nor a list of addresses. */
function trustOf(proxies: readonly string[]): IsTrusted | undefined {
  const [first = ''] = proxies
  if (proxies.length === 0) return trustNobody
  if (proxies.length === 1 && /^\d{1,2}$/.test(first)) return (_, hop) => hop < Number(first)
  const known = new BlockList()
  for (const each of proxies) {
    const [address = '', bits, ...more] = each.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    const most = family === 'ipv6' ? 128 : 32
    if (isIP(address) === 0 || more.length > 0) return undefined
    if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most)) return undefined
    known.addSubnet(address, Number(bits ?? most), family)
  }
  return (address) => isIP(address) !== 0 && known.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

const pick = (environment: Record<string, string | undefined>) =>
  Object.fromEntries(Object.keys(Environment.shape).map((name) => [name, environment[name]]))

const claimDataDir = (dataDir: string): void => {
  try {
    makeDataFolder(dataDir)
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new ConfigError([`DEVDECK_DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}`])
  }
}

/** Works without the folder, but closes an existing one to other users. */
const closeDataDir = (dataDir: string): void => {
  try {
    makeDataFolder(dataDir)
  } catch (error) {
    console.error(`DEVDECK_DATA_DIR ${dataDir} cannot be made private: ${(error as Error).message}`)
  }
}

/** Generated once and stored, so that sessions survive a restart. */
const ownSecret = (dataDir: string): string => {
  const file = join(dataDir, 'session-secret')
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new ConfigError([`${file} cannot be written: ${(error as Error).message}`])
    chmodSync(file, 0o600)
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < minSecretLength)
    throw new ConfigError([`${file} has fewer than ${minSecretLength} characters. Delete it to generate a new secret.`])
  if (!isRandom(secret)) throw new ConfigError([`${file} is not random. Delete it to generate a new secret.`])
  return secret
}

/** Rejects secrets typed by hand: single-case words, repeats and sequences. */
const isRandom = (secret: string): boolean => {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(secret))
  const bytes = Buffer.from(secret)
  const steps = bytes.map((byte, i) => byte - (bytes[i - 1] ?? 0))
  return kinds.length > 1 && [bytes, steps].every((each) => deflateRawSync(each).length >= minDeflatedSecretLength)
}

const httpUrl = (value: string): URL | null => {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : null
}

const isServiceUrl = (value: string): boolean => httpUrl(value) !== null && !/[?#\s]/.test(value)

const isIssuer = (value: string): boolean => {
  const { protocol, hostname = '' } = httpUrl(value) ?? {}
  return isServiceUrl(value) && (protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
}

const isOrigin = (value: string): boolean => {
  const origin = httpUrl(value)?.origin
  return origin !== undefined && [origin, `${origin}/`].includes(value)
}

export const ownOrigins = ({ host, publicOrigins }: Pick<Config, 'host' | 'publicOrigins'>, port: number): string[] => {
  const own = host === '0.0.0.0' || host === '::' ? [] : [host]
  const hosts = [...new Set([...own, ...loopbackHosts])].map((each) => (isIPv6(each) ? `[${each}]` : each))
  return [...new Set([...hosts.map((each) => new URL(`http://${each}:${port}`).origin), ...publicOrigins])]
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SessionView } from '#lib/protocol/session.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { readConfig, type SignOnRule } from '../config.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { signInAtProvider, startProvider, type TestProvider } from '../testing-provider.ts'

const teams = Array.from({ length: 40 }, (_, n) => `00000000-0000-0000-0000-0000000000${n + 10}`)

const people = {
  ann: { name: 'Ann', email: 'ann@example.com', email_verified: true, groups: ['all', 'payments'] },
  bob: { name: 'Bob', email: 'ann@example.com', email_verified: false, groups: 'all' },
  eve: { preferred_username: 'eve', groups: ['payments-old'] },
  max: { name: 'Max', groups: ['payments', ...teams, 'bosses'] },
}

let service: TestService
let gateway: TestConsole
let provider: TestProvider
beforeAll(async () => {
  service = await startService()
  gateway = await startConsole(service)
  provider = await startProvider(people, { callbacks: [`${gateway.url}/sign-in/sso/callback`] })
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
  await service.close()
})
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  setRules([{}])
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const setRules = (rules: Partial<SignOnRule>[]) => {
  const whole = rules.map((rule) => ({ claim: 'groups', value: 'payments', api_key: service.key, ...rule }))
  gateway.registry.config.signOn = { ...signInAtProvider(provider), rules: whole }
}

/** Cookies by origin; like browsers, drops those over 4096 bytes. */
class Browser {
  readonly #jars = new Map<string, Map<string, string>>()

  cookie(origin: string): string {
    return [...(this.#jars.get(origin) ?? [])].map((each) => each.join('=')).join('; ')
  }

  async get(address: string): Promise<Response> {
    const { origin } = new URL(address)
    const answer = await fetch(address, { redirect: 'manual', headers: { cookie: this.cookie(origin) } })
    this.keep(answer, origin)
    return answer
  }

  keep(answer: Response, origin: string): void {
    const jar = this.#jars.get(origin) ?? new Map<string, string>()
    this.#jars.set(origin, jar)
    for (const each of answer.headers.getSetCookie()) {
      const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(each) ?? []
      if (value === '' || /Max-Age=0|1970/.test(rest)) jar.delete(name)
      else if (name.length + value.length <= 4096) jar.set(name, value)
    }
  }

  keepCookie(cookie: string): void {
    this.keep(new Response(null, { headers: { 'set-cookie': cookie } }), gateway.url)
  }

  /** Follows redirects to a page, or until `stop` returns true. */
  async follow(address: string, stop = (_: string): boolean => false): Promise<{ at: string; answer: Response }> {
    for (let at = address; ; ) {
      const answer = await this.get(at)
      const to = answer.headers.get('location')
      if (to === null) return { at, answer }
      at = new URL(to, at).href
      if (stop(at)) return { at, answer }
    }
  }
}

const isBack = (address: string) => new URL(address).origin === gateway.url && !address.includes('/callback')

/** Signs in from the console as user `as` of the provider. */
const signOn = async (as: string, { query = '', browser = new Browser() } = {}) => {
  const { at } = await browser.follow(`${gateway.url}/sign-in/sso${query}`)
  const { at: end } = await browser.follow(`${at}?${as === '' ? 'cancel' : `as=${as}`}`, isBack)
  return { browser, end: end.slice(gateway.url.length) }
}
const sessionOf = async (browser: Browser): Promise<SessionView> =>
  (await gateway.fetch('/api/session', { cookie: browser.cookie(gateway.url) })).json()

it('gives the highest role to a person in more groups than fit a cookie', async () => {
  const rules = [
    ...teams.map((group) => ({ group, role: 'viewer' as const })),
    { group: 'bosses', role: 'operator' as const },
  ]
  gateway.registry.config.roles = { file: '/nowhere/roles.json', rules: { claim: 'groups', default: null, rules } }
  try {
    const { browser } = await signOn('max')
    expect((await sessionOf(browser)).role).toBe('operator')
  } finally {
    gateway.registry.config.roles = undefined
    gateway.registry.slots.delete('roleRules')
  }
})

it('signs in a member of a group and records their name in the activity', async () => {
  const { browser, end } = await signOn('ann', { query: '?next=/axons%3Fsearch%3D%C3%BC' })
  expect(end).toBe('/axons?search=%C3%BC')
  const session = await sessionOf(browser)
  expect(session.person).toBe('ann@example.com')
  expect(JSON.stringify(session)).not.toContain(service.key)
  const cookie = browser.cookie(gateway.url)
  const key = await gateway.signIn(service.key)
  for (const each of [cookie, key]) expect((await gateway.ask(each, 'POST', '/api/v1/axons', {})).status).toBe(200)
  const activity = async (query: string) => (await gateway.ask(cookie, 'GET', `/api/activity?${query}`)).body
  await expect.poll(async () => (await activity('search=axons.create')).total_count).toBe(2)
  expect((await activity('search=axons.create')).activities).toMatchObject([
    { person: null },
    { person: 'ann@example.com', subject: expect.stringMatching(/^axn_/) },
  ])
  expect((await activity('search=ANN@')).total_count).toBe(1)
  const silence = { metadata: { team: 'a' }, until_ms: Date.now() + 60_000, comment: 'deploy' }
  expect((await gateway.ask(cookie, 'POST', '/api/alerts/silences', silence)).body).toMatchObject({
    by: 'ann@example.com',
  })
})

it('keeps out the personal keys of a person whose groups no longer let them in', async () => {
  const rules = { claim: 'groups', default: null, rules: [{ group: 'payments', role: 'member' as const }] }
  gateway.registry.config.roles = { file: '/nowhere/roles.json', rules }
  const { groups } = people.ann
  try {
    setRules([{ claim: 'email', value: 'ann@example.com' }])
    const { browser } = await signOn('ann')
    const { body } = await gateway.ask(browser.cookie(gateway.url), 'POST', '/api/personal-keys', { name: 'ci' })
    const withKey = () => fetch(`${gateway.url}/api/session`, { headers: { authorization: `Bearer ${body.key}` } })
    expect((await withKey()).status).toBe(200)
    people.ann.groups = ['all']
    expect((await signOn('ann')).end).toBe('/sign-in?problem=sso-nobody')
    expect((await withKey()).status).toBe(401)
  } finally {
    people.ann.groups = groups
    gateway.registry.config.roles = undefined
    gateway.registry.slots.delete('roleRules')
  }
})

it('uses the key of the first matching rule', async () => {
  setRules([
    { value: 'nobody', api_key: 'ak_wrong' },
    { claim: 'sub', value: 'ann', api_key: service.otherKey },
    { value: 'all' },
  ])
  const [ann, bob] = [await signOn('ann'), await signOn('bob')]
  const [ofAnn, ofBob] = [await sessionOf(ann.browser), await sessionOf(bob.browser)]
  expect(ofAnn.account.id).not.toBe(ofBob.account.id)
  // An unverified email address is not used as a name.
  expect([ofAnn.person, ofBob.person]).toEqual(['ann@example.com', 'Bob (bob)'])
})

it('adds the account to one signed in with a key', async () => {
  setRules([{ api_key: service.otherKey }])
  const browser = new Browser()
  browser.keepCookie(await gateway.signIn(service.key))
  await signOn('ann', { query: '?add', browser })
  const session = await sessionOf(browser)
  expect([session.person, session.others?.length]).toEqual(['ann@example.com', 1])
})

it.each(['cross-site', 'same-site'])(
  'does not start from a %s page, which goes to the sign-in page instead',
  async (site) => {
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const response = await gateway.fetch('/sign-in/sso?next=/axons', { headers })
    expect([response.headers.get('location'), response.headers.getSetCookie()]).toEqual(['/sign-in?next=%2Faxons', []])
    const typed = await gateway.fetch('/sign-in/sso', { headers: { ...headers, 'sec-fetch-site': 'none' } })
    expect(typed.headers.get('location')).toContain(provider.issuer)
  },
)

it.each([
  ['has no rule', 'eve', [{}], 'sso-nobody'],
  ['has an unverified email address', 'bob', [{ claim: 'email', value: 'ann@example.com' }], 'sso-nobody'],
  ['cancels', '', [{}], 'sso-refused'],
  ['has a key that the service rejects', 'ann', [{ api_key: 'ak_wrong' }], 'sso-key'],
])('does not sign in a user who %s', async (_, as, rules, problem) => {
  setRules(rules)
  const { browser, end } = await signOn(as, { query: '?next=/axons' })
  expect(end).toBe(`/sign-in?problem=${problem}&next=%2Faxons`)
  expect(browser.cookie(gateway.url)).toBe('')
})

it('rejects a callback that is used, from another browser or of another attempt', async () => {
  const late = `${gateway.url}/sign-in?problem=sso-late`
  const mine = new Browser()
  const { at } = await mine.follow(`${gateway.url}/sign-in/sso`)
  const { at: callback } = await mine.follow(`${at}?as=ann`, (address) => address.includes('/callback'))
  const other = new Browser()
  expect((await other.follow(callback, isBack)).at).toBe(late)
  await other.follow(`${gateway.url}/sign-in/sso`)
  expect((await other.follow(callback, isBack)).at).toBe(late)
  const changed = new URL(callback)
  changed.searchParams.set('code', 'another')
  const pendingCookie = mine.cookie(gateway.url)
  expect((await mine.follow(callback, isBack)).at).toBe(`${gateway.url}/`)
  const again = new Browser()
  again.keepCookie(pendingCookie)
  expect((await again.follow(callback, isBack)).at).toBe(late)
  again.keepCookie(pendingCookie)
  expect((await again.follow(changed.href, isBack)).at).toBe(late)
  expect(again.cookie(gateway.url)).toBe('')
})

it.each([
  ['//evil.example', '/'],
  ['https://evil.example/a', '/'],
  ['/.//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/axons?a=b#c', '/axons?a=b#c'],
  [`/axons?search=${'a'.repeat(5000)}`, '/'],
])('redirects to %s as %s', async (next, end) => {
  expect((await signOn('ann', { query: `?next=${encodeURIComponent(next)}` })).end).toBe(end)
})

it('reports an unreachable provider or service, and retries it later', async () => {
  const { registry } = gateway
  const { config, service: address } = registry
  const { signOn: settings } = config
  config.signOn = settings && { ...settings, issuer: 'http://127.0.0.1:1' }
  const begin = async () => (await new Browser().follow(`${gateway.url}/sign-in/sso`, isBack)).at
  expect(await begin()).toBe(`${gateway.url}/sign-in?problem=sso-away`)
  config.signOn = undefined
  expect(await begin()).toBe(`${gateway.url}/sign-in?problem=sso-away`)
  config.signOn = settings
  registry.service = { ...address, url: () => 'http://127.0.0.1:1' }
  expect((await signOn('ann')).end).toBe('/sign-in?problem=sso-service')
  registry.service = address
  expect((await signOn('ann')).end).toBe('/')
})

it('requires a new sign-in after 12 hours', async () => {
  const { browser } = await signOn('ann')
  const key = await gateway.signIn(service.key)
  const ask = (cookie: string) => gateway.fetch('/api/session', { cookie })
  const signedOnMs = Date.now()
  vi.useFakeTimers({ now: signedOnMs + 11 * 3_600_000, toFake: ['Date'] })
  const renewed = { ann: await ask(browser.cookie(gateway.url)), key: await ask(key) }
  expect([renewed.ann.status, renewed.key.status]).toEqual([200, 200])
  browser.keep(renewed.ann, gateway.url)
  vi.setSystemTime(signedOnMs + 12 * 3_600_000 + 1000)
  expect((await ask(browser.cookie(gateway.url))).status).toBe(401)
  expect((await ask(renewed.key.headers.get('set-cookie')?.split(';')[0] ?? '')).status).toBe(200)
})

describe('the single sign-on configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-sign-on-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const read = (rules: unknown, { mode = 0o600, ...more }: Record<string, unknown> = {}) => {
    const file = join(folder, 'accounts.json')
    rmSync(file, { force: true })
    writeFileSync(file, typeof rules === 'string' ? rules : JSON.stringify(rules), { mode: mode as number })
    return readConfig({
      DEVDECK_DATA_DIR: folder,
      DEVDECK_OIDC_ISSUER: 'https://accounts.example.com',
      DEVDECK_OIDC_CLIENT_ID: 'devdeck',
      DEVDECK_OIDC_ACCOUNTS: file,
      ...more,
    }).signOn
  }
  const rules = [{ claim: 'groups', value: 'team', api_key: 'ak_1' }]

  it('is accepted', () => {
    expect(read(rules)).toEqual({
      issuer: 'https://accounts.example.com',
      clientId: 'devdeck',
      clientSecret: undefined,
      scope: 'openid profile email',
      rules,
    })
    expect(read(rules, { DEVDECK_OIDC_ISSUER: '' })).toBeUndefined()
  })

  it.each([
    ['others may read', rules, { mode: 0o644 }, 'is readable by other users; run chmod 600'],
    ['is not JSON', '[{"api_key": ak_a_secret}]', {}, /^[^_]+_OIDC_ACCOUNTS \S+ is not valid JSON$/],
    ['has no rule', [], {}, 'must be a list like '],
    ['has a rule without a key', [{ claim: 'groups', value: 'a' }], {}, '0.api_key '],
    ['does not exist', rules, { DEVDECK_OIDC_ACCOUNTS: '/no/such/file' }, 'cannot be read: ENOENT'],
    [
      'is not configured',
      rules,
      { DEVDECK_OIDC_ACCOUNTS: '' },
      'DEVDECK_OIDC_ISSUER requires DEVDECK_OIDC_CLIENT_ID and',
    ],
    [
      'is used with a plain http issuer',
      rules,
      { DEVDECK_OIDC_ISSUER: 'http://a.example' },
      'must be an https:// address',
    ],
    ['is used with a scope without openid', rules, { DEVDECK_OIDC_SCOPE: 'email' }, 'must include openid'],
  ])('is rejected when the accounts file %s', (_, text, more, problem) => {
    expect(() => read(text, more)).toThrow(problem)
  })
})

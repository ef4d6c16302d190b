import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { liveClose } from '#lib/protocol/live.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import type { TestService } from '#lib/service/testing/service.ts'
import { startTerminals, TestPage, until } from '../terminals/testing.ts'
import type { TestConsole } from '../testing.ts'
import { newSession, sessionCookie } from './session-cookie.ts'

let service: TestService
let gateway: TestConsole
let devboxId: string
let byKey: string
beforeAll(async () => {
  ;({ service, gateway, devboxId, cookie: byKey } = await startTerminals())
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})
afterEach(() => {
  vi.useRealTimers()
})

const signedOn = async (): Promise<string> => {
  const session = newSession(await service.client.accounts.me(), service.key, { person: 'ann' })
  const header = (name: string) => ({ host: new URL(gateway.url).host })[name]
  return (await sessionCookie(header, session)).split(';')[0] ?? ''
}
const open = async (cookie: string, name: string) => {
  const page = new TestPage(gateway, `/api/terminals/${devboxId}/${name}?cols=80&rows=24`, { cookie })
  await page.told({ t: 'people' })
  return page
}

it('closes the streams and terminals of a single sign-on session after 12 hours', async () => {
  const ann = await signedOn()
  const [own, shared, other] = [await open(ann, 'own'), await open(ann, 'shared'), await open(byKey, 'shared')]
  own.ask({ t: 'follow', on: true })
  await own.told({ t: 'follow', path: expect.stringMatching(/^\/follow\//) as unknown as string })
  const token = own.last('follow')?.path?.slice('/follow/'.length) ?? ''
  const follower = new TestPage(gateway, `/api/follow/${token}?cols=80&rows=24`)
  await follower.told({ t: 'people' })
  // Users of a share link see the browser but not the person.
  expect(own.last('people')?.writer?.name).toBe('ann, A program')
  expect(JSON.stringify(follower.notices)).not.toContain('ann')
  const live = new TestPage(gateway, '/api/live', { cookie: ann })
  await until(() => expect(live.notices).not.toEqual([]))
  const events = await gateway.fetch(`/api/v1/devboxes/${devboxId}/logs/tail`, { cookie: ann })
  expect(events.status).toBe(200)

  vi.useFakeTimers({ now: Date.now() + 12 * 3_600_000, toFake: ['Date'] })
  expect((await own.closed).code).toBe(terminalClose.signedOut)
  expect((await shared.closed).code).toBe(terminalClose.signedOut)
  expect((await live.closed).code).toBe(liveClose.signedOut)
  await follower.closed
  await events.text().catch(() => undefined)
  expect((await gateway.fetch(`/api/follow/${token}`)).status).toBe(404)
  vi.useRealTimers()
  other.ask({ t: 'takeover' })
  await other.told({ t: 'people', role: 'writer' })
  other.type('echo still-$((1+1))\n')
  await other.shows('still-2')
  await other.leave()
})

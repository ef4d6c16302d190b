import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Alert, AlertEventName } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { readConfig } from '../../config.ts'
import { AlertStore } from '../alert-store.ts'
import { AccountReceivers } from './account-receivers.ts'
import { deliveryTimes } from './channel.ts'
import { configuredReceivers } from './configured-receivers.ts'
import { ReceiverFile } from './receiver-fields.ts'

let dataDir: string
let store: AlertStore
let started: AccountReceivers[]
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-receivers-'))
  store = new AlertStore(dataDir)
  started = []
})
afterEach(() => {
  for (const receivers of started) receivers.close()
  store.close()
  rmSync(dataDir, { recursive: true })
})

const start = (file: unknown) => {
  const inFile = ReceiverFile.parse(file)
  const settings = { inFile, areForAccounts: false, arePrivateAllowed: false }
  const configured = configuredReceivers({ webhook: undefined, receivers: settings }, () => 'ak_own')
  const receivers = new AccountReceivers({
    stored: 'account',
    account: { id: 'acc', name: 'Ada' },
    outbox: store.outbox,
    times: deliveryTimes,
    urlOf: (id) => id,
    configured: () => configured,
    isPrivateAllowed: false,
    open: () => [],
    sees: () => false,
    onChange: () => undefined,
  })
  started.push(receivers)
  const nameOf = (id: string) => receivers.list().find((receiver) => receiver.id === id)?.name
  return {
    receivers,
    /** The alert as it is stored, and the names of the receivers that get a message. */
    address: (event: AlertEventName, alert: Alert) => {
      const { alert: stored, messages } = receivers.address(event, alert, event !== 'alert.closed')
      return { stored, names: messages.map(({ receiver }) => nameOf(receiver)) }
    },
  }
}

const url = 'https://receiver.example/'
const receiver = (name: string, filter: object, format = 'json') => ({ name, format, url, filter })

it('sends matching alerts with all their later events, and tests', () => {
  const { address } = start([
    receiver('all', {}),
    receiver('core', { metadata: { team: 'core' } }),
    receiver('critical', { min_severity: 'critical' }),
    receiver('jobs', { kinds: ['job'] }),
    { ...receiver('watchdog', {}, 'heartbeat'), every_seconds: 60 },
  ])
  const ofCore = alertOf({ metadata: { team: 'core', env: 'prod' } })
  const { stored, names } = address('alert.raised', ofCore)
  expect(names).toEqual(['all', 'core'])
  // Its metadata changed, and it became critical.
  const reminder = address('alert.raised', { ...stored, metadata: {}, raised_ms: stored.deadline_ms - 1 })
  expect(reminder.names).toEqual(['all', 'core', 'critical'])
  expect(address('alert.closed', { ...reminder.stored, state: 'ended' }).names).toEqual(['all', 'core', 'critical'])
  // It was not announced, for example because of a silence.
  expect(address('alert.closed', { ...ofCore, state: 'ended' }).names).toEqual([])
  expect(address('alert.raised', alertOf({ kind: 'job' })).names).toEqual(['all', 'jobs'])
  expect(address('alert.raised', alertOf({ kind: 'watch' })).names).toEqual(['all', 'critical'])
  expect(address('alert.test', alertOf({ kind: 'test' })).names).toEqual(['all', 'core', 'critical', 'jobs'])
})

it('reads the example of the guide', () => {
  const [, example = ''] = /```json\n\s*(\[[\s\S]*?)```/.exec(readFileSync('docs/alerts.md', 'utf8')) ?? []
  const { receivers } = start(JSON.parse(example))
  expect(receivers.list().map(({ name, host }) => `${name} ${host}`)).toEqual([
    'Pager events.pagerduty.com',
    'Core team hooks.slack.com',
    'Healthchecks hc-ping.com',
  ])
})

describe('a file of receivers', () => {
  const problem = (content: unknown, mode: number, environment = {}): unknown => {
    const file = join(dataDir, 'receivers.json')
    rmSync(file, { force: true })
    writeFileSync(file, JSON.stringify(content), { mode })
    try {
      return readConfig({ DEVDECK_DATA_DIR: dataDir, DEVDECK_RECEIVERS: file, ...environment }).receivers.inFile
    } catch (error) {
      return String(error)
    }
  }

  it('is read if only its owner can, every name is unique and the account is known', () => {
    const valid = [{ ...receiver('one', {}), secret: 'hidden' }]
    expect(problem(valid, 0o600)).toMatchObject([{ name: 'one', secret: 'hidden', isPrivateAllowed: false }])
    expect(problem(valid, 0o644)).toMatch(/readable by other users; run chmod 600$/)
    expect(problem([...valid, ...valid], 0o600)).toMatch(/names must be unique/)
    expect(problem([{ ...valid[0], format: 'sms' }], 0o600)).toMatch(/0\.format/)
    expect(problem(valid, 0o600, { DEVDECK_SERVICE_URL: 'https://api.example.org' })).toMatch(/one needs the api_key/)
  })
})

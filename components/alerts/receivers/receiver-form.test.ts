import { expect, it } from 'vitest'
import { receiverOf } from '#lib/protocol/testing.ts'
import { pagerDutyUrl, receiverFieldOf, receiverForm, receiverValues } from './receiver-form.ts'

const add = (change: Partial<ReturnType<typeof receiverValues>>) =>
  receiverForm({ isNew: true }).safeParse({
    ...receiverValues(),
    name: 'on-call',
    url: 'https://example.com',
    ...change,
  })

it('sends every kind as no filter, and a choice of kinds in order', () => {
  expect(add({}).data?.filter.kinds).toBeNull()
  expect(add({ kinds: ['eviction', 'failure'] }).data?.filter.kinds).toEqual(['eviction', 'failure'])
  expect(add({ kinds: [] }).error?.issues[0]?.path).toEqual(['kinds'])
})

it('fills in the address of PagerDuty, but asks for its key', () => {
  const { error, data } = add({ format: 'pagerduty', url: '', secret: '' })
  expect(data).toBeUndefined()
  expect(error?.issues.map(({ path }) => path)).toEqual([['secret']])
  expect(add({ format: 'pagerduty', url: '', secret: 'key' }).data).toMatchObject({ url: pagerDutyUrl, secret: 'key' })
})

it('sends no filter for a heartbeat, and an interval within its limits', () => {
  const values = { format: 'heartbeat', kinds: [], metadata: [{ key: '', value: 'x' }] } as const
  expect(add({ ...values, kinds: [], metadata: [...values.metadata], every: '30' }).data).toMatchObject({
    every_seconds: 30,
    filter: { kinds: null, min_severity: 'info', metadata: {} },
  })
  for (const every of ['29', '3601', '60.5', 'often', ''])
    expect(add({ ...values, kinds: [], metadata: [], every }).error?.issues[0]?.path).toEqual(['every'])
})

it('keeps the URL and secret of an edited receiver unless new ones are entered', () => {
  const receiver = receiverOf({ filter: { kinds: ['end'], min_severity: 'critical', metadata: { team: 'core' } } })
  const values = receiverValues(receiver)
  const { data } = receiverForm({ isNew: false }).safeParse(values)
  expect(data).toEqual({ name: receiver.name, filter: receiver.filter })
})

it('finds the field of an error response', () => {
  expect(['url', 'filter.kinds.0', 'filter.metadata.team', 'every_seconds', 'id'].map(receiverFieldOf)).toEqual([
    'url',
    'kinds',
    'metadata',
    'every',
    undefined,
  ])
})

import * as z from 'zod/mini'
import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import type { AlertKind, Receiver, ReceiverFilter, ReceiverFormat, Severity } from '#lib/protocol/alerts.ts'

export interface ReceiverValues {
  format: ReceiverFormat
  name: string
  url: string
  secret: string
  kinds: AlertKind[]
  minSeverity: Severity
  metadata: KeyValueRow[]
  every: string
}

/** When editing, omitted fields keep their values, and the format is fixed. */
export interface ReceiverInput {
  name: string
  format?: ReceiverFormat
  url?: string
  secret?: string
  filter: ReceiverFilter
  every_seconds?: number
}

export const filterKinds = ['eviction', 'end', 'failure', 'watch', 'job'] as const satisfies AlertKind[]

export const pagerDutyUrl = 'https://events.pagerduty.com/v2/enqueue'

const noFilter: ReceiverFilter = { kinds: null, min_severity: 'info', metadata: {} }

export const receiverValues = (receiver?: Receiver): ReceiverValues => {
  const { name = '', format = 'json', filter = noFilter, every_seconds = 60 } = receiver ?? {}
  return {
    name,
    format,
    url: '',
    secret: '',
    kinds: filter.kinds ?? [...filterKinds],
    minSeverity: filter.min_severity,
    metadata: Object.entries(filter.metadata).map(([key, value]) => ({ key, value })),
    every: String(every_seconds),
  }
}

const fields: Record<string, keyof ReceiverValues> = {
  name: 'name',
  url: 'url',
  secret: 'secret',
  every_seconds: 'every',
  'filter.kinds': 'kinds',
  'filter.min_severity': 'minSeverity',
  'filter.metadata': 'metadata',
}

/** The form's field that an error response is about, such as `filter.metadata.team`. */
export const receiverFieldOf = (path: string): keyof ReceiverValues | undefined =>
  fields[path] ?? Object.entries(fields).find(([name]) => path.startsWith(`${name}.`))?.[1]

type Fail = (field: keyof ReceiverValues, message: string) => void

const filterOf = ({ kinds, minSeverity, metadata }: ReceiverValues, fail: Fail): ReceiverFilter => {
  const pairs = rowsToMap(metadata)
  if (!pairs.ok) fail('metadata', pairs.message)
  if (kinds.length === 0) fail('kinds', 'Select at least one kind')
  return {
    kinds: filterKinds.every((kind) => kinds.includes(kind)) ? null : kinds,
    min_severity: minSeverity,
    metadata: pairs.ok ? pairs.map : {},
  }
}

const toInput = (values: ReceiverValues, isNew: boolean, fail: Fail): ReceiverInput => {
  const { format } = values
  const name = values.name.trim()
  const url = values.url.trim() || (isNew && format === 'pagerduty' ? pagerDutyUrl : '')
  const secret = values.secret.trim()
  if (name === '') fail('name', 'Enter a name')
  if (isNew && url === '') fail('url', 'Enter the URL')
  if (isNew && format === 'pagerduty' && secret === '') fail('secret', 'Enter the integration key')
  const every = Number(values.every)
  if (format === 'heartbeat' && !(Number.isInteger(every) && every >= 30 && every <= 3600))
    fail('every', 'Enter a number of seconds from 30 to 3600')
  return {
    name,
    ...(isNew && { format }),
    ...(url && { url }),
    ...(secret && { secret }),
    filter: format === 'heartbeat' ? noFilter : filterOf(values, fail),
    ...(format === 'heartbeat' && { every_seconds: every }),
  }
}

export const receiverForm = ({ isNew }: { isNew: boolean }) =>
  z.pipe(
    z.custom<ReceiverValues>(),
    z.transform((values: ReceiverValues, context) =>
      toInput(values, isNew, (field, message) =>
        context.issues.push({ code: 'custom', path: [field], message, input: values[field] }),
      ),
    ),
  )

import * as z from 'zod/mini'
import { alertKinds } from '#lib/protocol/alert-labels.ts'
import type { Receiver, ReceiverFilter, ReceiverFormat } from '#lib/protocol/alerts.ts'
import type { PushBinding } from '../../push/push-subscription.ts'

/** Where a receiver's messages go, and the key that signs or authorizes them. */
export interface Target {
  url: string
  secret?: string | undefined
}

/** `push` receivers are browsers; pages list them apart. */
export type ChannelFormat = ReceiverFormat | 'push'

/** A receiver with its target, which may have to be unsealed. */
export interface ReceiverSettings
  extends Pick<Receiver, 'id' | 'name' | 'host' | 'source' | 'filter' | 'has_secret' | 'is_paused'> {
  format: ChannelFormat
  every_seconds?: number
  push?: PushBinding
  /** Whether nothing may be sent to it anymore. */
  isOver?(): Promise<boolean>
  isPrivateAllowed: boolean
  /** Undefined if it can't be unsealed. */
  target(): Promise<Target | undefined>
}

const text = (max: number) => z.string().check(z.maxLength(max, `must have at most ${max} characters`))
const isHttpUrl = (value: string): boolean => {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

const ReceiverFilterFields: z.ZodMiniType<ReceiverFilter> = z.strictObject({
  kinds: z._default(
    z.nullable(z.array(z.enum(alertKinds)).check(z.minLength(1, 'must contain at least one kind'))),
    null,
  ),
  min_severity: z._default(z.enum(['info', 'warning', 'critical']), 'info'),
  metadata: z._default(z.record(text(256).check(z.minLength(1)), text(1024)), {}),
})

const urlField = text(2048).check(z.refine(isHttpUrl, 'must be an http:// or https:// address without credentials'))
/** One line, so that a name looks the same in chats, reports and on pages. */
const nameField = z.pipe(
  text(60),
  z.pipe(
    z.transform((name: string) => name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()),
    z.string().check(z.minLength(1, 'is required')),
  ),
)
const secretField = text(512).check(z.regex(/^[\x20-\x7e]*$/, 'must be printable characters'))
const everyField = z
  .int()
  .check(z.minimum(30, 'must be at least 30 seconds'), z.maximum(3600, 'must be at most an hour'))

const pagerDutyUrl = 'https://events.pagerduty.com/v2/enqueue'
const defaultEverySeconds = 60

const newReceiver = {
  name: nameField,
  format: z.enum(['json', 'slack', 'pagerduty', 'heartbeat']),
  url: z.optional(urlField),
  secret: z.optional(secretField),
  filter: z.optional(ReceiverFilterFields),
  every_seconds: z.optional(everyField),
}

export interface NewReceiver extends Target {
  name: string
  format: ReceiverFormat
  filter: ReceiverFilter
  every_seconds?: number
}

const completed = ({ name, format, url, secret, filter, every_seconds }: z.output<typeof NewFields>): NewReceiver => ({
  name,
  format,
  url: url ?? pagerDutyUrl,
  ...(secret && { secret }),
  filter: filter ?? { kinds: null, min_severity: 'info', metadata: {} },
  ...(format === 'heartbeat' && { every_seconds: every_seconds ?? defaultEverySeconds }),
})

type TargetFields = Pick<z.output<z.ZodMiniObject<typeof newReceiver>>, 'format' | 'url' | 'secret'>
const required = [
  z.refine<TargetFields>(({ url, format }) => format === 'pagerduty' || url !== undefined, {
    message: 'is required',
    path: ['url'],
  }),
  z.refine<TargetFields>(({ secret, format }) => format !== 'pagerduty' || !!secret, {
    message: 'must be the routing key of the PagerDuty integration',
    path: ['secret'],
  }),
] as const

const NewFields = z.strictObject(newReceiver).check(...required)
export const NewReceiverFields = z.pipe(NewFields, z.transform(completed))

/** Missing fields stay as they are; an empty secret removes it. The format can't change. */
export const ReceiverChange = z.strictObject({
  name: z.optional(nameField),
  format: z.optional(newReceiver.format),
  url: z.optional(urlField),
  secret: z.optional(secretField),
  filter: z.optional(ReceiverFilterFields),
  every_seconds: z.optional(everyField),
  is_paused: z.optional(z.boolean()),
})

const FileFields = z
  .strictObject({ ...newReceiver, api_key: z.optional(text(512)), private: z.optional(z.boolean()) })
  .check(...required)

/** The list in the file named by DEVDECK_RECEIVERS. */
export const ReceiverFile = z
  .array(
    z.pipe(
      FileFields,
      z.transform(({ api_key, private: isPrivateAllowed = false, ...fields }) => ({
        ...completed(fields),
        api_key,
        isPrivateAllowed,
      })),
    ),
  )
  .check(
    z.refine(
      (receivers) => new Set(receivers.map(({ name }) => name)).size === receivers.length,
      'names must be unique: after a restart, waiting messages are matched to receivers by name',
    ),
  )

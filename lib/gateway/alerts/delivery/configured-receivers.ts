import { createHash } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { ReceiverSettings } from './receiver-fields.ts'

export interface ConfiguredReceiver extends ReceiverSettings {
  /** The key of its account, or of the account to watch while no page is open. */
  apiKey(): string | undefined
  isForEveryAccount: boolean
}

/** Receivers of the environment and the file. `ownKey`: the key of the console's own service. */
export const configuredReceivers = (
  { webhook, receivers }: Pick<Config, 'webhook' | 'receivers'>,
  ownKey: () => string | undefined,
): ConfiguredReceiver[] => [
  ...(webhook ? [ofEnvironment(webhook, ownKey)] : []),
  ...receivers.inFile.map(({ api_key, url, secret, isPrivateAllowed, ...receiver }) => ({
    ...receiver,
    id: `file-${createHash('sha256').update(receiver.name).digest('hex').slice(0, 12)}`,
    host: new URL(url).host,
    source: 'file' as const,
    has_secret: secret !== undefined,
    is_paused: false,
    isPrivateAllowed,
    isForEveryAccount: false,
    apiKey: () => api_key ?? ownKey(),
    target: async () => ({ url, secret }),
  })),
]

const ofEnvironment = (
  { url, secret, apiKey }: NonNullable<Config['webhook']>,
  ownKey: () => string | undefined,
): ConfiguredReceiver => ({
  id: 'environment',
  name: 'Webhook',
  format: 'json',
  host: new URL(url).host,
  source: 'environment',
  filter: { kinds: null, min_severity: 'info', metadata: {} },
  has_secret: secret !== undefined,
  is_paused: false,
  isPrivateAllowed: true,
  isForEveryAccount: true,
  apiKey: () => apiKey ?? ownKey(),
  target: async () => ({ url, secret }),
})

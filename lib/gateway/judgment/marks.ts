import { registry, slot } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { JudgmentStore } from './judgment-store.ts'

export const judgmentStore = slot(
  'judgmentStore',
  () => new JudgmentStore(registry().config.dataDir),
  (store) => store.close(),
)

/** Accounts of different services share the store. */
export const judgmentAccount = (accountId: string): string => `${serviceIdentity()} ${accountId}`

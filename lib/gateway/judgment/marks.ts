import { registry, slot } from '../registry/registry.ts'
import { JudgmentStore } from './judgment-store.ts'

export const judgmentStore = slot(
  'judgmentStore',
  () => new JudgmentStore(registry().config.dataDir),
  (store) => store.close(),
)

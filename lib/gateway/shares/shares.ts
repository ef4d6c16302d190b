import { registry, slot } from '../registry/registry.ts'
import { ShareStore } from './share-store.ts'

export const shareStore = slot(
  'shareStore',
  () => new ShareStore(registry().config.dataDir),
  (store) => store.close(),
)

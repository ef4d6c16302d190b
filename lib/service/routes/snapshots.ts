import { snapshots } from '#lib/contract/snapshots.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const snapshotRoutes = () =>
  implement(snapshots, {
    list: notImplemented,
    listPublic: notImplemented,
    metadataKeys: notImplemented,
    metadataValues: notImplemented,
    status: notImplemented,
    update: notImplemented,
    delete: notImplemented,
    create: notImplemented,
    createAsync: notImplemented,
  })

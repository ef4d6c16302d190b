import { snapshots } from '#lib/contract/snapshots.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const snapshotRoutes = () => implement(snapshots, { update: notImplemented })

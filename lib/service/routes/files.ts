import { files } from '#lib/contract/files.ts'
import { implement, notImplemented } from '#lib/service/http/implement.ts'

export const fileRoutes = () =>
  implement(files, {
    read: notImplemented,
    write: notImplemented,
    download: notImplemented,
    upload: notImplemented,
  })

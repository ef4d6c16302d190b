import { join } from 'node:path'
import { newId } from '#lib/service/kit/ids.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { inTransaction, openDatabase } from '#lib/service/store/database.ts'
import { createDevboxStore } from '#lib/service/store/devboxes.ts'
import type { TestService } from './service.ts'

export const fillDevboxes = ({ dataDir }: Pick<TestService, 'dataDir'>, count: number, account = 'test'): void => {
  const database = openDatabase(join(dataDir, databaseName))
  const store = createDevboxStore(database)
  const now = Date.now()
  try {
    inTransaction(database, () => {
      for (let number = 0; number < count; number++)
        store.insert({
          id: newId('dbx'),
          account,
          name: `devbox ${number}`,
          status: 'suspended',
          create_time_ms: now,
          metadata: {},
          launch_parameters: {},
          environment_variables: {},
          secrets: {},
          entrypoint: null,
          snapshot_id: null,
          tunnel: null,
          initiator_type: 'api',
          initiator_id: null,
        })
    })
  } finally {
    database.close()
  }
}

import { join } from 'node:path'
import { receiverRounds } from '#lib/gateway/alerts/delivery/testing/kill-rounds.ts'

const root = join(import.meta.dirname, '..')
const shortTimes = join(root, 'lib/gateway/alerts/delivery/testing/short-times.ts')

/** Three restarts and ten kills of a console that sends alerts to five receivers, four of which fail. */
export const soakReceivers = async () => {
  const { seed, alerts, deliveries, repeated, problems } = await receiverRounds({
    command: ['--import', shortTimes, join(root, 'server.ts')],
    restarts: 3,
    kills: 10,
  })
  const lines = [`${alerts} alerts in ${deliveries} accepted deliveries, ${repeated} of them repeated`, `seed ${seed}`]
  return { lines, problems }
}

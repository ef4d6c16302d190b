import { executions } from '#lib/contract/executions.ts'
import { browserApi } from './browser-api.ts'
import { downloadFile } from './file-download.ts'

const archive = '/tmp/home.tar.gz'
/** tar ends with 1 when a file changed while it was read: the archive is whole, and that file as it was then. */
const pack = `tar -C "$HOME" -czf ${archive} . ; [ $? -le 1 ]`

/** Has the browser save an archive of the devbox's home folder. Rejects with a sentence for people. */
export const copyOut = async (devboxId: string): Promise<void> => {
  const api = browserApi({ executions }).executions
  const run = (command: string) => api.executeSync({ params: { id: devboxId }, body: { command } })
  const { exit_status, stderr } = await run(pack)
  if (exit_status !== 0)
    throw new Error(`The home folder was not packed: ${stderr.trim().slice(0, 300) || exit_status}`)
  try {
    await downloadFile(devboxId, archive)
  } finally {
    await run(`rm -f ${archive}`).catch(() => undefined)
  }
}

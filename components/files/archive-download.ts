import { runInDevbox } from './devbox-command.ts'
import { downloadFile } from './file-download.ts'
import { nameIn, parentOf, shellWord } from './file-path.ts'

/** Has the browser save an archive of these files, which are in one folder. Rejects with a sentence for people. */
export const downloadArchive = (devboxId: string, files: readonly string[]): Promise<void> => {
  const [first = '/'] = files
  const names = files.map((file) => shellWord(`./${nameIn(file)}`)).join(' ')
  const name = files.length === 1 ? nameIn(first) || 'root' : nameIn(parentOf(first)) || 'files'
  return saveArchive(devboxId, shellWord(parentOf(first)), names, name)
}

/** The same of the home folder, whole. */
export const downloadHome = (devboxId: string): Promise<void> => saveArchive(devboxId, '"$HOME"', '.', 'home')

/** tar ends with 1 when a file changed while it was read: the archive is whole, and that file as it was then. */
const saveArchive = async (devboxId: string, folder: string, names: string, name: string): Promise<void> => {
  const pack =
    `d=$(mktemp -d) || exit; tar -C ${folder} -czf "$d/archive.tar.gz" -- ${names}; s=$?; ` +
    `[ $s -le 1 ] || { rm -rf -- "$d"; exit $s; }; echo "$d"`
  const place = (await runInDevbox(devboxId, pack)).trim()
  try {
    await downloadFile(devboxId, `${place}/archive.tar.gz`, `${name}.tar.gz`)
  } finally {
    await runInDevbox(devboxId, `rm -rf -- ${shellWord(place)}`).catch(() => undefined)
  }
}

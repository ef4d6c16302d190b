import { CircleCheck, CircleX, Trash2, Upload } from 'lucide-react'
import { StateBadge, type StateLook } from '#components/ui/badge.tsx'
import type { ObjectContentType, ObjectState, StoredObject } from '#lib/contract/objects.ts'

const looks: Record<ObjectState, StateLook> = {
  UPLOADING: { tone: 'progress', icon: Upload, word: 'Uploading' },
  READ_ONLY: { tone: 'ok', icon: CircleCheck, word: 'Ready' },
  DELETED: { tone: 'neutral', icon: Trash2, word: 'Deleted' },
  ERROR: { tone: 'danger', icon: CircleX, word: 'Failed' },
}

export const ObjectStateBadge = ({ state }: Pick<StoredObject, 'state'>) => <StateBadge looks={looks} state={state} />

export const objectStateWords = Object.fromEntries(
  Object.entries(looks).map(([state, { word }]) => [state, word]),
) as Record<ObjectState, string>

export const contentTypeWords: Record<ObjectContentType, string> = {
  unspecified: 'Unspecified',
  text: 'Text',
  binary: 'Binary',
  gzip: 'Gzip',
  tar: 'Tar archive',
  tgz: 'Tar archive (gzip)',
}

export const contentTypeText = (type: string): string => contentTypeWords[type as ObjectContentType] ?? type

/** From the name, because devboxes unpack archives. */
export const guessContentType = (name: string): ObjectContentType => {
  if (/\.(tgz|tar\.gz)$/i.test(name)) return 'tgz'
  if (/\.tar$/i.test(name)) return 'tar'
  if (/\.gz$/i.test(name)) return 'gzip'
  return /\.(txt|md|json|jsonl|ya?ml|toml|csv|tsv|log|xml|html?|css|[jt]sx?|py|sh|rs|go|c|h|sql)$/i.test(name)
    ? 'text'
    : 'binary'
}

/** Why an object can't be downloaded or mounted. */
export const contentRefusal = ({ state }: Pick<StoredObject, 'state'>): string | null => {
  if (state === 'UPLOADING') return 'the upload is not complete'
  if (state === 'DELETED') return 'the object was deleted'
  return state === 'ERROR' ? 'the upload failed' : null
}

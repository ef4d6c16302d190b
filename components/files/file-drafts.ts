export interface FileDraft {
  /** The text of the file when editing started; null if it doesn't exist. */
  base: string | null
  text: string
}

/** Drafts survive switching tabs and folders, until the page is left. */
const drafts = new Map<string, FileDraft>()

const draftKey = (devboxId: string, path: string) => `${devboxId}\0${path}`

export const draftOf = (devboxId: string, path: string): FileDraft | undefined => drafts.get(draftKey(devboxId, path))

export const saveDraft = (devboxId: string, path: string, draft: FileDraft | undefined): void => {
  if (draft && draft.text !== draft.base) drafts.set(draftKey(devboxId, path), draft)
  else drafts.delete(draftKey(devboxId, path))
  if (drafts.size > 0) addEventListener('beforeunload', confirmLeaving)
  else removeEventListener('beforeunload', confirmLeaving)
}

const confirmLeaving = (event: BeforeUnloadEvent) => event.preventDefault()

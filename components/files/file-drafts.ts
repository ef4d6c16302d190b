/** A text that is being edited, and what was in its file when that began; null for the file when it is to be made. */
export interface FileDraft {
  base: string | null
  text: string
}

/** Kept until the page is left, so that a look at another tab or folder loses nothing that was typed. */
const drafts = new Map<string, FileDraft>()

const keyOf = (devboxId: string, path: string) => `${devboxId}\0${path}`

export const draftOf = (devboxId: string, path: string): FileDraft | undefined => drafts.get(keyOf(devboxId, path))

export const keepDraft = (devboxId: string, path: string, draft: FileDraft | undefined): void => {
  if (draft && draft.text !== draft.base) drafts.set(keyOf(devboxId, path), draft)
  else drafts.delete(keyOf(devboxId, path))
  if (drafts.size > 0) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
}

/** The browser asks before it closes a page with a text that nobody has saved. */
const warn = (event: BeforeUnloadEvent) => event.preventDefault()

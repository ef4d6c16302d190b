export interface FilesPlace {
  devboxId: string
  /** Why the files cannot be used now. */
  refusal: string | null
  /** The address of a folder, or of a file in it. */
  hrefOf: (folder: string, file?: string) => string
  /** Goes there; `focused` is the entry that gets the focus. */
  go: (folder: string, options?: { file?: string; focused?: string }) => void
  /** Which entry the folder that is drawn next gives the focus to, once. */
  takeFocused: () => string | undefined
}

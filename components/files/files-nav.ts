import type { SearchQuery } from './search-commands.ts'

export interface FilesNav {
  devboxId: string
  refusal: string | null
  hrefOf: (folder: string, file?: string, line?: number) => string
  /** `focused` names the entry to focus after navigating. */
  go: (
    folder: string,
    options?: { file?: string; focused?: string; replace?: boolean; find?: SearchQuery['kind'] },
  ) => void
  /** Returns the entry that the next folder should focus, once. */
  takeFocused: () => string | undefined
}

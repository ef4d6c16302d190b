/** A part of a page of the documentation, from one heading to the next. */
export interface DocSection {
  /** Name of the page: `alerts`. */
  page: string
  page_title: string
  /** Fragment of the heading; empty for the page's own title. */
  anchor: string
  heading: string
  /** Without Markdown. */
  text: string
}

export interface DocsIndex {
  sections: DocSection[]
}

/** The fragment of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

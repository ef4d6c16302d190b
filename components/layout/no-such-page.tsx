import { paths } from '#lib/console/address/paths.ts'

/** Sent along with every page, so of plain elements: components would be downloaded with each. */
export const NoSuchPage = () => (
  <div className="mx-auto flex max-w-2xl flex-col items-center gap-3 px-4 pt-[12dvh] text-center">
    <h1 className="text-lg font-medium">There is no page at this address</h1>
    <p className="max-w-prose text-lg text-balance text-muted">
      The address may be mistyped, or the page may belong to another version of the console.
    </p>
    <a href={paths.overview()} className="font-medium text-accent hover:underline">
      Go to the overview
    </a>
  </div>
)

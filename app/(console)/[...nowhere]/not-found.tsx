import { AddressSearch } from '#components/layout/address-search.tsx'
import { NoSuchPage } from '#components/layout/no-such-page.tsx'

export default function NotFound() {
  return (
    <NoSuchPage>
      <AddressSearch />
    </NoSuchPage>
  )
}

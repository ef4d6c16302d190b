# Starts bwrap as a user that owns nothing else on this machine, or, for a service that is not root, as root of a user
# namespace that has no other user. Called by `unshare --mount`, so that no mount made here is visible elsewhere.
#
# That user cannot enter the service's folders, so whatever the devbox needs from them is first mounted below `place`.
# The overlays of a system of its own are mounted there too, at `system`.
#
# These calls have no command: util-linux 2.38 neither maps the users of a mount nor sets a fsuid.
#
# Arguments: numbers of system calls; the first user, or nothing; the number of users; the place; the number of sources and
# the sources; the number of overlays and, for each, its path, upper and work folder, and the number of its layers and,
# from the top down, their kind, first user and folder; then the command.
my ($numbers, $user, $users, $place, $count, @rest) = @ARGV;
my @sources = splice(@rest, 0, $count);
my @overlays = map {
  my ($path, $upper, $work, $layers) = splice(@rest, 0, 4);
  {path => $path, upper => $upper, work => $work, layers => [map { [splice(@rest, 0, 3)] } 1 .. $layers]}
} 1 .. shift @rest;
my $isRoot = $user ne '';
# The service's own umask closes what is made here to the user who mounts the public overlays.
umask(022);
my %call;
@call{qw(setns unshare mount prctl setgroups setresgid setresuid setsid seccomp prlimit64 close setfsuid setfsgid
  open_tree mount_setattr move_mount)} = map { $_ + 0 } split /,/, $numbers;

sub fail { print STDERR "devdeck: $_[0]: $!\n"; exit 126 }
sub ask { my ($name, @arguments) = @_; my $result = syscall($call{$name}, @arguments); $result != -1 or fail($name); $result }
sub write_to {
  my ($path, $text) = @_;
  open(my $file, '>', $path) or fail($path);
  defined(syswrite($file, $text)) && close($file) or fail($path);
}
# O_PATH
sub opened { my ($path) = @_; sysopen(my $file, $path, 0x200000) or fail($path); $file }
sub path_of { '/proc/self/fd/' . fileno($_[0]) }
sub new_folder { my ($path) = @_; mkdir($path, 0755) or fail($path); $path }

# A user namespace that maps users from `first` on to those of the devbox. A child makes it, since only a process outside
# may map other users than its own; the open file keeps it.
my %users_from;
sub users_from {
  my ($first) = @_;
  return $users_from{$first} if $users_from{$first};
  pipe(my $made, my $making) or fail('pipe');
  pipe(my $over, my $ending) or fail('pipe');
  defined(my $child = fork) or fail('fork');
  if ($child == 0) {
    close($ending);
    # CLONE_NEWUSER
    ask('unshare', 0x10000000);
    syswrite($making, 'x');
    sysread($over, my $byte, 1);
    exit(0);
  }
  close($making);
  sysread($made, my $byte, 1);
  write_to("/proc/$child/setgroups", 'deny') if $users == 1;
  write_to("/proc/$child/$_", "$first $user $users") for qw(gid_map uid_map);
  open(my $namespace, '<', "/proc/$child/ns/user") or fail('user namespace');
  close($ending);
  waitpid($child, 0);
  $users_from{$first} = $namespace
}

# A copy of the mount of a folder, with its users mapped to those of the devbox: OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, then
# MOUNT_ATTR_IDMAP by AT_EMPTY_PATH.
sub mapped_tree {
  my ($first, $folder) = @_;
  my $tree = ask('open_tree', -100, $folder, 1 | 02000000);
  ask('mount_setattr', $tree, '', 0x1000, pack('Q4', 0x100000, 0, 0, fileno(users_from($first))), 32);
  $tree
}

# An overlay reads its layers with the rights of whoever mounted it. Mounted by a user who has none, it passes on what
# everybody may read and nothing else, whoever asks and whenever modes change. The devbox's root owns the files all the
# same, so it can replace them in its own layer.
sub mount_public {
  my ($folder, $how, $at) = @_;
  # A number that neither the machine nor a devbox uses; leaving 0 gives up the capabilities over files.
  if ($isRoot) { ask($_, 0x6fffffff) for qw(setfsgid setfsuid) }
  # MS_RDONLY. Without an upper layer the kernel requires two lower ones.
  ask('mount', 'devdeck', $at, 'overlay', 1, "${how}lowerdir=$folder:$place/empty");
  if ($isRoot) { ask($_, 0) for qw(setfsuid setfsgid) }
}

# No group of the service's goes along. An ordinary user may not give up those it has.
ask('setgroups', 0, 0) if $isRoot;
# All opened first, since `place` may hide some.
my @opened = map { opened($_) } @sources;
for my $overlay (@overlays) {
  $overlay->{$_} = opened($overlay->{$_}) for qw(upper work);
  for (@{$overlay->{layers}}) {
    my ($kind, $first, $folder) = @$_;
    $_ = {isPublic => $kind eq 'public', $isRoot ? (tree => mapped_tree($first, $folder)) : (file => opened($folder))};
  }
}
ask('mount', 'devdeck', $place, 'tmpfs', 0, 'mode=755,size=64k');
for my $i (0 .. $#opened) {
  my ($source, $target) = (path_of($opened[$i]), "$place/$i");
  if (-d $source) { new_folder($target) } else { write_to($target, '') }
  # MS_BIND | MS_REC
  ask('mount', $source, $target, 0, 0x5000, 0);
}
if (@overlays) { new_folder("$place/$_") for qw(system empty) }
# What an overlay notes about its files is for root of the machine alone, unless it notes it as users do.
my $how = $isRoot ? '' : 'userxattr,';
my $number = 0;
for my $overlay (@overlays) {
  my @lower = map {
    my $at = $_->{file} ? path_of($_->{file}) : new_folder("$place/layer" . $number++);
    # MOVE_MOUNT_F_EMPTY_PATH
    ask('move_mount', $_->{tree}, '', -100, $at, 4) if $_->{tree};
    if ($_->{isPublic}) {
      my $public = new_folder("$place/public" . $number++);
      mount_public($at, $how, $public);
      $at = $public;
    }
    $at
  } @{$overlay->{layers}};
  my ($upper, $work) = map { path_of($overlay->{$_}) } qw(upper work);
  my $options = "${how}lowerdir=" . join(':', @lower) . ",upperdir=$upper,workdir=$work";
  ask('mount', 'devdeck', "$place/system$overlay->{path}", 'overlay', 0, $options);
}
chdir('/');
if ($isRoot) {
  # CLONE_NEWUSER
  ask('setns', fileno(users_from(0)), 0x10000000);
  ask('setresgid', 0, 0, 0);
  ask('setresuid', 0, 0, 0);
}
# Root of a system of its own keeps rights that others give up, so the kernel itself refuses it further namespaces.
write_to('/proc/sys/user/max_user_namespaces', '0') if @overlays;
exec { $rest[0] } @rest;
fail($rest[0]);

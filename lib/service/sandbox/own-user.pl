# Runs bwrap as a user that is nobody else on this machine; to be called by root.
#
# That user cannot enter the service's folders, so what the devbox is to see of them is first mounted where it can, for
# bwrap alone. A system of its own is put together there as well, at `system`, from overlays over the machine's folders.
# Arguments: numbers of system calls, the user, how many users, that place, how many sources, the sources, how many
# overlays, for each its path, its upper and its work folder, how many layers, for each its first user and its folder, from
# the uppermost down, and then the command.
#
# Called by another user, with no user in its arguments, it makes that user root of the devbox and the only one there.
my ($numbers, $user, $users, $place, $count, @rest) = @ARGV;
my @sources = splice(@rest, 0, $count);
my @overlays = map {
  my ($path, $upper, $work, $layers) = splice(@rest, 0, 4);
  {path => $path, upper => $upper, work => $work, layers => [map { [splice(@rest, 0, 2)] } 1 .. $layers]}
} 1 .. shift @rest;
my %call;
@call{qw(setns unshare mount prctl setgroups setresgid setresuid setsid seccomp prlimit64 close)} = map { $_ + 0 } split /,/, $numbers;

sub fail { print STDERR "devdeck: $_[0]: $!\n"; exit 126 }
sub ask { my ($name, @arguments) = @_; syscall($call{$name}, @arguments) != -1 or fail($name) }

# By number. What a call is given has to be a variable, which a literal is not.
sub call { my ($number, @arguments) = @_; my $answer = syscall($number, @arguments); $answer != -1 or fail("call $number"); $answer }

# A user namespace that maps users from that number on to those of the devbox, held by its file alone.
sub from_users {
  my ($first) = @_;
  pipe(my $made, my $making) or fail('pipe');
  pipe(my $over, my $ending) or fail('pipe');
  defined(my $child = fork) or fail('fork');
  if ($child == 0) {
    close($ending);
    ask('unshare', 0x10000000);
    syswrite($making, 'x');
    sysread($over, my $byte, 1);
    exit(0);
  }
  sysread($made, my $byte, 1);
  for my $name (qw(uid_map gid_map)) {
    open(my $file, '>', "/proc/$child/$name") or fail($name);
    defined(syswrite($file, "$first $user $users")) or fail($name);
  }
  open(my $namespace, '<', "/proc/$child/ns/user") or fail('the user namespace of a layer');
  close($ending);
  waitpid($child, 0);
  $namespace
}

# What was called by an ordinary user has its rights in a user namespace from here on, and none outside.
if ($user eq '') {
  my ($uid, $gid) = ($> + 0, (split ' ', $))[0]);
  # CLONE_NEWUSER
  ask('unshare', 0x10000000);
  for (['setgroups', 'deny'], ['uid_map', "0 $uid 1"], ['gid_map', "0 $gid 1"]) {
    my ($name, $text) = @$_;
    open(my $file, '>', "/proc/self/$name") or fail("/proc/self/$name");
    defined(syswrite($file, $text)) && close($file) or fail("/proc/self/$name");
  }
}

# Who maps a user other than itself must stand outside of the new user namespace.
pipe(my $ready, my $go) or fail('pipe');
defined(my $mapper = $user eq '' ? -1 : fork) or fail('fork');
if ($mapper == 0) {
  close($go);
  my $parent = getppid();
  exit(1) unless sysread($ready, my $byte, 1);
  for ($users == 1 ? ['setgroups', 'deny'] : (), ['gid_map', "0 $user $users"], ['uid_map', "0 $user $users"]) {
    my ($name, $text) = @$_;
    open(my $file, '>', "/proc/$parent/$name") or fail("/proc/$parent/$name");
    defined(syswrite($file, $text)) or fail("/proc/$parent/$name");
  }
  exit(0);
}
close($ready);

# CLONE_NEWNS, then MS_REC | MS_PRIVATE: no mount of this process shows anywhere else.
ask('unshare', 0x20000);
ask('mount', 'none', '/', 0, 0x44000, 0);
my @opened = map { sysopen(my $file, $_, 0x200000) or fail($_); $file } @sources;
my $named = sub { '/proc/self/fd/' . fileno($_[0]) };
my %renumbered;
for my $overlay (@overlays) {
  sysopen($overlay->{"$_ folder"}, $overlay->{$_}, 0x200000) or fail($overlay->{$_}) for qw(upper work);
  for (@{$overlay->{layers}}) {
    my ($first, $folder) = @$_;
    if ($user eq '') {
      sysopen(my $layer, $folder, 0x200000) or fail($folder);
      push @{$overlay->{opened}}, $layer;
      next;
    }
    # OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, then MOUNT_ATTR_IDMAP with AT_EMPTY_PATH: the layer's users are the devbox's.
    # These three calls have one number on every machine.
    my $tree = call(428, -100, $folder, 1 | 02000000);
    call(442, $tree, '', 0x1000, pack('Q4', 0x100000, 0, 0, fileno($renumbered{$first} //= from_users($first))), 32);
    push @{$overlay->{trees}}, $tree;
  }
}
ask('mount', 'devdeck', $place, 'tmpfs', 0, 'mode=755,size=64k');
for my $i (0 .. $#opened) {
  my ($source, $target) = ('/proc/self/fd/' . fileno($opened[$i]), "$place/$i");
  if (-d $source) { mkdir($target, 0755) or fail($target) }
  else { open(my $file, '>', $target) or fail($target) }
  # MS_BIND | MS_REC
  ask('mount', $source, $target, 0, 0x5000, 0);
}
if (@overlays) { mkdir("$place/system", 0755) or fail("$place/system") }
my $mounted = 0;
for my $overlay (@overlays) {
  my @lower = map {
    my $at = "$place/layer" . $mounted++;
    mkdir($at, 0755) or fail($at);
    # MOVE_MOUNT_F_EMPTY_PATH
    call(429, $_, '', -100, $at, 4);
    $at
  } @{$overlay->{trees}};
  push @lower, map { $named->($_) } @{$overlay->{opened}};
  my ($upper, $work) = map { $named->($overlay->{"$_ folder"}) } qw(upper work);
  my $target = "$place/system$overlay->{path}";
  # What an overlay notes of its files is for root of the machine alone, unless it is told to note it as users do.
  my $how = $user eq '' ? 'userxattr,' : '';
  ask('mount', 'devdeck', $target, 'overlay', 0, $how . 'lowerdir=' . join(':', @lower) . ",upperdir=$upper,workdir=$work");
}
chdir('/');
if ($user ne '') {
  ask('setgroups', 0, 0);
  # CLONE_NEWUSER
  ask('unshare', 0x10000000);
  syswrite($go, 'x');
  waitpid($mapper, 0);
  exit(126) if $? != 0;
  ask('setresgid', 0, 0, 0);
  ask('setresuid', 0, 0, 0);
}
# Root of several users keeps rights that others give up, so that the kernel itself is to make no more namespaces.
if ($users > 1 || $user eq '') {
  open(my $most, '>', '/proc/sys/user/max_user_namespaces') or fail('max_user_namespaces');
  defined(syswrite($most, '0')) && close($most) or fail('max_user_namespaces');
}
exec { $rest[0] } @rest;
fail($rest[0]);

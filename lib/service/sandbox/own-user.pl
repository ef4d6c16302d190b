# Runs bwrap as a user that is nobody else on this machine; to be called by root.
#
# That user cannot enter the service's folders, so what the devbox is to see of them is first mounted where it can, for
# bwrap alone. Arguments: numbers of system calls, the user, that place, how many sources, the sources, the command.
my ($numbers, $user, $place, $count, @rest) = @ARGV;
my @sources = splice(@rest, 0, $count);
my %call;
@call{qw(setns unshare mount prctl setgroups setresgid setresuid setsid seccomp prlimit64 close)} = map { $_ + 0 } split /,/, $numbers;

sub fail { print STDERR "devdeck: $_[0]: $!\n"; exit 126 }
sub ask { my ($name, @arguments) = @_; syscall($call{$name}, @arguments) != -1 or fail($name) }

# Who maps a user other than itself must stand outside of the new user namespace.
pipe(my $ready, my $go) or fail('pipe');
defined(my $mapper = fork) or fail('fork');
if ($mapper == 0) {
  close($go);
  my $parent = getppid();
  exit(1) unless sysread($ready, my $byte, 1);
  for (['setgroups', 'deny'], ['gid_map', "0 $user 1"], ['uid_map', "0 $user 1"]) {
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
ask('mount', 'devdeck', $place, 'tmpfs', 0, 'mode=755,size=64k');
for my $i (0 .. $#opened) {
  my ($source, $target) = ('/proc/self/fd/' . fileno($opened[$i]), "$place/$i");
  if (-d $source) { mkdir($target, 0755) or fail($target) }
  else { open(my $file, '>', $target) or fail($target) }
  # MS_BIND | MS_REC
  ask('mount', $source, $target, 0, 0x5000, 0);
}
chdir('/');
ask('setgroups', 0, 0);
# CLONE_NEWUSER
ask('unshare', 0x10000000);
syswrite($go, 'x');
waitpid($mapper, 0);
exit(126) if $? != 0;
ask('setresgid', 0, 0, 0);
ask('setresuid', 0, 0, 0);
exec { $rest[0] } @rest;
fail($rest[0]);

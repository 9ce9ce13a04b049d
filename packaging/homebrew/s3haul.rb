# Not run here: `ruby -c` alone. The digest is that of the release's source archive.
class S3haul < Formula
  desc "Move, list, compare and change S3 data in bulk"
  homepage "https://github.com/s3haul/s3haul"
  url "https://github.com/s3haul/s3haul/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/s3haul-cli")
    system "cargo", "run", "--release", "-p", "s3haul-cli", "--example", "man", "--", "man"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"s3haul", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/s3haul --version")
    (testpath/"hello").write "hello"
    port = free_port
    server = spawn bin/"s3haul", "serve", "--memory", "--address", "127.0.0.1:#{port}",
                   out: testpath/"exports"
    sleep 0.1 until File.read(testpath/"exports").include?("AWS_REGION")
    system "bash", "-ec", <<~SH
      source exports
      #{bin}/s3haul mb s3://box
      #{bin}/s3haul cp hello s3://box/hello
      test "$(#{bin}/s3haul cat s3://box/hello)" = hello
    SH
  ensure
    Process.kill "TERM", server if server
  end
end

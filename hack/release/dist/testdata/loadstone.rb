class Loadstone < Formula
  desc "Compare implementations under load"
  homepage "https://loadstone.dev"
  version "0.1.0"
  license "Apache-2.0"

  on_linux do
    on_intel do
      url "https://downloads.example/loadstone/0.1.0/loadstone_0.1.0_linux_amd64.tar.gz"
      sha256 "1111111111111111111111111111111111111111111111111111111111111111"
    end
    on_arm do
      url "https://downloads.example/loadstone/0.1.0/loadstone_0.1.0_linux_arm64.tar.gz"
      sha256 "2222222222222222222222222222222222222222222222222222222222222222"
    end
  end

  on_macos do
    on_intel do
      url "https://downloads.example/loadstone/0.1.0/loadstone_0.1.0_darwin_amd64.tar.gz"
      sha256 "3333333333333333333333333333333333333333333333333333333333333333"
    end
    on_arm do
      url "https://downloads.example/loadstone/0.1.0/loadstone_0.1.0_darwin_arm64.tar.gz"
      sha256 "4444444444444444444444444444444444444444444444444444444444444444"
    end
  end

  def install
    bin.install "loadstone"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"loadstone", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/loadstone version")
  end
end

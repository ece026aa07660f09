#include "hewn/report/metrics_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hewn/core/files.h"
#include "tests/support/temp_folder.h"

namespace hewn::report {
namespace {

using test::TempFolder;

class Log : public testing::Test {
 protected:
  void append(const std::string& text) const {
    std::ofstream(folder_ / "metrics.jsonl", std::ios::app | std::ios::binary) << text;
  }
  static std::string train(int step, double loss) {
    return R"({"step":)" + std::to_string(step) + R"(,"event":"train","epoch":0,"phase":"DENSE","loss":)" +
           std::to_string(loss) + R"(,"accuracy":50,"lr":0.1,"active":{"fc1":1.0,"fc2":0.5}})" + "\n";
  }

  TempFolder folder_;
  MetricsLog log_{folder_ / "metrics.jsonl"};
};

TEST_F(Log, FollowsAFileThatIsBeingWritten) {
  EXPECT_FALSE(log_.read_more());  // not there yet
  append(R"({"step":1,"event":"phase","phase":"DENSE"})"
         "\n" +
         train(50, 2.0));
  EXPECT_TRUE(log_.read_more());
  EXPECT_FALSE(log_.read_more());
  EXPECT_EQ(log_.step(), 50);
  ASSERT_EQ(log_.phases().size(), 1U);
  EXPECT_EQ(log_.phases()[0].phase, "DENSE");
  EXPECT_DOUBLE_EQ(log_.active().y.back(), 0.75);
  EXPECT_DOUBLE_EQ(log_.least_active().y.back(), 0.5);
  append(R"({"step":60,"event":"test","metrics":{"accuracy":80.5,"loss":null}})"
         "\n");
  EXPECT_TRUE(log_.read_more());
  EXPECT_DOUBLE_EQ(log_.tests().at("accuracy").y.back(), 80.5);
  EXPECT_FALSE(log_.tests().contains("loss"));
  EXPECT_EQ(log_.problem(), "");
}

TEST_F(Log, WaitsForTheRestOfALine) {
  const std::string line = train(100, 1.5);
  append(train(50, 2.0) + line.substr(0, 20));
  EXPECT_TRUE(log_.read_more());
  EXPECT_TRUE(log_.torn());
  EXPECT_EQ(log_.step(), 50);
  append(line.substr(20));
  EXPECT_TRUE(log_.read_more());
  EXPECT_FALSE(log_.torn());
  EXPECT_EQ(log_.step(), 100);
  EXPECT_EQ(log_.problem(), "");
}

TEST_F(Log, BeginsAnewWhenAResumedRunCutsTheFile) {
  append(train(50, 2.0) + train(100, 1.5));
  log_.read_more();
  write_file_atomically(folder_ / "metrics.jsonl", train(50, 2.0));
  EXPECT_TRUE(log_.read_more());
  EXPECT_EQ(log_.step(), 50);
  EXPECT_EQ(log_.loss().y.size(), 1U);
}

TEST_F(Log, NamesDamagedLines) {
  append(train(50, 2.0) + "\x01\xff not json\n" + std::string(5000, '[') + "\n" +
         R"({"step":"x","event":"train"})"
         "\n" +
         train(100, 1.0));
  log_.read_more();
  EXPECT_EQ(log_.loss().y.size(), 2U);
  EXPECT_NE(log_.problem().find("metrics.jsonl: line 2 is damaged, and 2 more"), std::string::npos)
      << log_.problem();
}

}  // namespace
}  // namespace hewn::report
